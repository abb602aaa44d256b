import struct

import cv2
import numpy as np
import pytest
import tifffile
from PIL import Image

from leafid.pictures.decoding import ImageError, read_image
from leafid.pictures.header import identify_format
from tests.pictures.picture_making import (
    LOSSLESS,
    apply_orientation,
    difference,
    make_deep,
    save,
)


@pytest.mark.parametrize("kind", ["heic", "avif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_of_heif_is_applied_once(tmp_path, rgb, kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = save(tmp_path / f"leaf.{kind}", rgb, exif=exif.tobytes(), **LOSSLESS[kind])
    shown = apply_orientation(rgb, orientation)
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
def test_heif_of_more_pixels_than_allowed_is_refused_before_decoding(
    tmp_path, rgb, kind
):
    # HEVC codes blocks of 64 pixels, so that this size is the one that is declared.
    file = save(tmp_path / f"leaf.{kind}", cv2.resize(rgb, (128, 64)), **LOSSLESS[kind])
    data = file.read_bytes()
    size = struct.pack(">II", 128, 64)
    assert size in data
    file.write_bytes(data.replace(size, struct.pack(">II", 12_000, 10_000)))
    with pytest.raises(ImageError, match="at most 100 megapixels, found more"):
        read_image(file)
    # The decoder allocates no more than what is declared.
    if kind == "heic":
        file.write_bytes(data.replace(size, struct.pack(">II", 64, 32)))
        with pytest.raises(ImageError, match="damaged HEIF"):
            read_image(file)


@pytest.mark.parametrize("order", ["<", ">"])
def test_dng_is_refused_by_its_tag(tmp_path, rgb, order):
    file = tmp_path / "leaf.dng"
    with tifffile.TiffWriter(file, byteorder=order) as writer:
        writer.write(
            rgb,
            photometric="rgb",
            metadata=None,
            extratags=[(50706, "B", 4, b"\1\4\0\0", True)],
        )
    with pytest.raises(ImageError, match="of a kind that can't be read"):
        read_image(file)


COLOURS = np.random.default_rng(1).integers(0, 1 << 16, (3, 256), dtype=np.uint16)
# From a picture to what is stored, and the options with which tifffile stores it.
TIFF_KINDS = {
    "grey": (lambda rgb: rgb[..., 0], {"photometric": "minisblack"}),
    "inverted": (lambda rgb: 255 - rgb[..., 0], {"photometric": "miniswhite"}),
    "grey 16": (lambda rgb: make_deep(rgb[..., 0]), {"photometric": "minisblack"}),
    "inverted 16": (
        lambda rgb: 65535 - make_deep(rgb[..., 0]),
        {"photometric": "miniswhite"},
    ),
    "bilevel": (lambda rgb: rgb[..., 0] > 100, {"photometric": "minisblack"}),
    "palette": (
        lambda rgb: rgb[..., 0],
        {"photometric": "palette", "colormap": COLOURS},
    ),
    "colour": (lambda rgb: rgb, {"photometric": "rgb"}),
    "planes": (
        lambda rgb: np.ascontiguousarray(rgb.transpose(2, 0, 1)),
        {"photometric": "rgb", "planarconfig": 2},
    ),
    "colour 16": (make_deep, {"photometric": "rgb"}),
    "planes 16": (
        lambda rgb: make_deep(rgb.transpose(2, 0, 1)),
        {"photometric": "rgb", "planarconfig": 2},
    ),
}


def find_shown_colours(kind: str, rgb: np.ndarray) -> np.ndarray:
    if kind == "bilevel":
        return np.repeat(np.where(rgb[..., :1] > 100, 255, 0), 3, axis=2)
    if kind == "palette":
        return (COLOURS >> 8).T[rgb[..., 0]]
    return (
        rgb
        if kind.startswith(("colour", "planes"))
        else np.repeat(rgb[..., :1], 3, axis=2)
    )


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    "layout",
    [{"rowsperstrip": 16}, {"tile": (32, 48), "compression": "zlib"}],
    ids=["strips", "tiles"],
)
@pytest.mark.parametrize("kind", TIFF_KINDS)
def test_tiff_of_every_kind_layout_and_orientation(tmp_path, rgb, kind, layout, order):
    stored, options = TIFF_KINDS[kind]
    shown = find_shown_colours(kind, rgb)
    refused = kind == "planes 16" or (kind == "inverted 16" and order == ">")
    for orientation in range(1, 9):
        file = tmp_path / f"{orientation}.tif"
        with tifffile.TiffWriter(file, byteorder=order) as writer:
            tags = [(274, "H", 1, orientation, True)]
            writer.write(
                stored(rgb), metadata=None, extratags=tags, **options, **layout
            )
        if refused:
            with pytest.raises(ImageError, match="expected"):
                read_image(file)
            continue
        expected = apply_orientation(shown, orientation)
        # libtiff cuts or rounds the lower byte of 16 bits.
        assert difference(read_image(file), expected) <= 1, orientation


@pytest.mark.parametrize(
    ("dtype", "shape", "photometric"),
    [
        ("f4", (40, 50, 3), "rgb"),
        ("u4", (40, 50), "minisblack"),
        ("c8", (40, 50), "minisblack"),
        ("u1", (40, 50, 5), "rgb"),
        ("u2", (40, 50, 3), "cielab"),
    ],
)
def test_unusual_kinds_are_called_so_and_not_damaged(
    tmp_path, dtype, shape, photometric
):
    file = tmp_path / "leaf.tif"
    planes = {} if len(shape) == 2 else {"planarconfig": 1}
    tifffile.imwrite(
        file, np.zeros(shape, dtype), photometric=photometric, metadata=None, **planes
    )
    with pytest.raises(ImageError, match="of a kind that can't be read"):
        read_image(file)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("is_big", [False, True])
def test_a_tiff_of_a_million_tags_or_endless_values_is_refused(tmp_path, order, is_big):
    mark = {"<": b"II", ">": b"MM"}[order]
    word, size, header = "I", "H", struct.pack(f"{order}HI", 42, 8)
    if is_big:
        word, size, header = "Q", "Q", struct.pack(f"{order}HHHQ", 43, 8, 0, 16)
    tags = [struct.pack(f"{order}HH{word}{word}", 40_000, 1, 1000, 0)] * 100
    many = 10**6 if is_big else 100
    file = tmp_path / "leaf.tif"
    for n_tags, message in (
        (100, "values of tags, found 100000"),
        (many, "tags, found"),
    ):
        count = struct.pack(f"{order}{size}", n_tags)
        file.write_bytes(mark + header + count + b"".join(tags))
        with pytest.raises(ImageError, match=message):
            read_image(file)


@pytest.mark.parametrize(
    ("brands", "kind"),
    [
        (b"avis", "AVIF"),
        (b"hevx", "HEIF"),
        (b"mif1\0\0\0\0miafavif", "AVIF"),
        (b"msf1\0\0\0\0msf1hevc", "HEIF"),
        (b"mif1", "HEIF"),
        # Of raw data of a camera, and of a video.
        (b"crx \0\0\0\1crx isom", None),
        (b"isom\0\0\0\0avc1", None),
    ],
)
def test_brands_tell_heif_and_avif(brands, kind):
    assert identify_format(b"\0\0\0\x20ftyp" + brands + bytes(40)) == kind
