import struct

import cv2
import pytest
import tifffile
from PIL import Image

from leafid.pictures.decoding import ImageError, read_image, read_image_size
from tests.pictures.picture_making import LOSSLESS, apply_orientation, difference, save


@pytest.mark.parametrize("kind", ["heic", "avif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_of_heif_is_applied_once(tmp_path, rgb, kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = save(tmp_path / f"leaf.{kind}", rgb, exif=exif.tobytes(), **LOSSLESS[kind])
    shown = apply_orientation(rgb, orientation)
    assert read_image_size(file) == shown.shape[:2]
    assert difference(read_image(file), shown) <= 3
    assert max(read_image(file, 40).shape) == 40
    if kind == "heic":
        # The EXIF block holds the orientation, too, but has no effect in this format.
        tag = b"\x01\x12\0\x03\0\0\0\x01\0%c"
        data = file.read_bytes()
        assert tag % orientation in data
        file.write_bytes(data.replace(tag % orientation, tag % 8))
        assert difference(read_image(file), shown) <= 3


def test_first_frame_of_a_gif(tmp_path, rgb):
    frames = [Image.fromarray(picture).quantize(256) for picture in (rgb, 255 - rgb)]
    frames[0].save(tmp_path / "leaf.gif", save_all=True, append_images=frames[1:])
    assert difference(read_image(tmp_path / "leaf.gif"), rgb) <= 16
    data = (tmp_path / "leaf.gif").read_bytes()
    (tmp_path / "cut.gif").write_bytes(data[:-20])  # within the second frame
    assert difference(read_image(tmp_path / "cut.gif"), rgb) <= 16


@pytest.mark.parametrize("kind", ["heic", "avif"])
def test_heif_of_more_pixels_than_allowed_is_refused_before_decoding(tmp_path, rgb, kind):
    # HEVC codes blocks of 64 pixels, so that this size is the one that is declared.
    file = save(tmp_path / f"leaf.{kind}", cv2.resize(rgb, (128, 64)), **LOSSLESS[kind])
    data = file.read_bytes()
    size = struct.pack(">II", 128, 64)
    assert size in data
    file.write_bytes(data.replace(size, struct.pack(">II", 12_000, 10_000)))
    for read in (read_image, read_image_size):
        with pytest.raises(ImageError, match="at most 100 megapixels, found 12000 × 10000"):
            read(file)
    # The decoder allocates no more than what is declared.
    if kind == "heic":
        file.write_bytes(data.replace(size, struct.pack(">II", 64, 32)))
        with pytest.raises(ImageError, match="damaged HEIF"):
            read_image(file)


@pytest.mark.parametrize("order", ["<", ">"])
def test_dng_is_refused_by_its_tag(tmp_path, rgb, order):
    file = tmp_path / "leaf.dng"
    with tifffile.TiffWriter(file, byteorder=order) as writer:
        writer.write(rgb, photometric="rgb", metadata=None, extratags=[(50706, "B", 4, b"\1\4\0\0", True)])
    for read in (read_image, read_image_size):
        with pytest.raises(ImageError, match="of a kind that can't be read"):
            read(file)
