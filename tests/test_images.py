import io
import math
import os
import struct
import subprocess
import sys
import time
import zlib
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps, features

from leafid.errors import LeafidError
from leafid.image_header import MAX_PIXELS
from leafid.images import ImageError, read_image, read_image_size

KINDS = ["jpg", "png", "tif", "bmp", "webp", "gif", "avif", "heic"]
LOSSLESS = {
    "webp": {"lossless": True},
    "avif": {"quality": 100, "subsampling": "4:4:4"},
    "heic": {"quality": -1, "chroma": 444},
}


@pytest.fixture(scope="module")
def rgb() -> np.ndarray:
    """A smooth picture (so that lossy kinds keep it) without symmetry: 60 rows, 80 cols, RGB."""
    rows, cols = np.mgrid[0:60, 0:80]
    picture = np.stack([rows * 4, cols * 3, (rows + cols)], axis=-1).astype(np.uint8)
    picture[:20, :32] = (250, 10, 10)
    return picture


def save(path: Path, rgb: np.ndarray, **options: object) -> Path:
    if path.suffix == ".heic":
        pytest.importorskip("pillow_heif").register_heif_opener()
    picture = Image.fromarray(rgb)
    if path.suffix == ".gif":
        picture = picture.quantize(256)
    picture.save(path, **options)
    return path


def difference(image: np.ndarray, rgb: np.ndarray) -> int:
    return int(np.abs(image.astype(int) - rgb[:, :, ::-1]).max())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_becomes_8_bit_bgr(tmp_path, rgb, kind):
    options = {"jpg": {"quality": 95, "subsampling": 0}, **LOSSLESS}
    file = save(tmp_path / f"leaf.{kind}", rgb, **options.get(kind, {}))
    image = read_image(file)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous
    # JPEG at this quality is off by a few grey values at the sharp edge, as is a palette of 256 colours; HEIC rounds
    # the conversion to YCbCr; the others keep every value.
    assert difference(image, rgb) <= {"jpg": 12, "gif": 16, "heic": 3, "avif": 3}.get(kind, 0)
    assert read_image_size(file) == (60, 80)


@pytest.mark.parametrize("kind", ["jpg", "png", "tif", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(tmp_path, rgb, kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    lossless = {"webp": {"lossless": True}, "jpg": {"quality": 95, "subsampling": 0}}
    file = save(tmp_path / f"leaf.{kind}", rgb, exif=exif, **lossless.get(kind, {}))
    with Image.open(file) as picture:
        upright = np.asarray(ImageOps.exif_transpose(picture))
    if orientation > 1:
        assert upright.shape != rgb.shape or (upright != rgb).any()
    image = read_image(file)
    assert image.shape == upright.shape
    assert read_image_size(file) == upright.shape[:2]
    # Two JPEG decoders may round differently.
    assert difference(image, upright) <= 3
    assert read_image(file, 40).shape == ((30, 40, 3) if orientation < 5 else (40, 30, 3))


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
def test_grey_and_transparent_heif(tmp_path, rgb, kind):
    grey = save(tmp_path / f"grey.{kind}", rgb[..., 1], **LOSSLESS[kind])
    assert difference(read_image(grey), np.repeat(rgb[..., 1:2], 3, axis=2)) <= 3
    alpha = np.full((60, 80), 255, np.uint8)
    alpha[:, :20] = 0
    image = read_image(save(tmp_path / f"clear.{kind}", np.dstack([rgb, alpha]), **LOSSLESS[kind]))
    assert (image[:, :16] > 250).all()
    assert difference(image[:, 24:], rgb[:, 24:]) <= 3


def test_deep_heic_keeps_the_upper_8_bits(tmp_path, rgb):
    pillow_heif = pytest.importorskip("pillow_heif")
    options = {"quality": -1, "chroma": 444, "matrix_coefficients": 0}
    for mode, deep in (("RGB;16", make_deep(rgb)), ("I;16", make_deep(rgb[..., 1]))):
        file = tmp_path / f"{len(mode)}.heic"
        stored = np.ascontiguousarray(deep)
        pillow_heif.from_bytes(mode, (80, 60), stored.tobytes()).save(file, **options)
        shown = rgb if deep.ndim == 3 else np.repeat(rgb[..., 1:2], 3, axis=2)
        # Stored as 10 bits, and rounded in the conversion to YCbCr.
        assert difference(read_image(file), shown) <= 4, mode


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


def test_heif_without_its_decoder_says_what_to_install(tmp_path, rgb, monkeypatch):
    heic, avif = tmp_path / "leaf.heic", save(tmp_path / "leaf.avif", rgb)
    heic.write_bytes(b"\0\0\0\x14ftypheic\0\0\0\0mif1")
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(ImageError, match="pip install pillow-heif"):
        read_image(heic)
    monkeypatch.setattr(features, "check", lambda _: False)
    with pytest.raises(ImageError, match="needs a Pillow that was built with it"):
        read_image(avif)


def test_bytes_of_a_camera_after_the_boxes_of_a_heic_are_allowed(tmp_path, rgb):
    file = save(tmp_path / "leaf.heic", rgb)
    file.write_bytes(file.read_bytes() + b"\xff" * 100)
    assert read_image(file).shape == rgb.shape


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
def test_dng_is_refused_by_its_tag(tmp_path, rgb, order, big):
    if big and order == ">":
        pytest.skip("Pillow can't read it")
    file = tmp_path / "leaf.dng"
    with tifffile.TiffWriter(file, byteorder=order, bigtiff=big) as writer:
        writer.write(rgb, photometric="rgb", metadata=None, extratags=[(50706, "B", 4, b"\1\4\0\0", True)])
    for read in (read_image, read_image_size):
        with pytest.raises(ImageError, match=r"found a DNG \(raw data of a camera\); export it as JPEG"):
            read(file)


def test_invalid_orientation_and_damaged_exif_are_ignored(tmp_path, rgb):
    exif = Image.Exif()
    exif[0x0112] = 77
    assert read_image(save(tmp_path / "77.jpg", rgb, exif=exif)).shape == rgb.shape
    file = save(tmp_path / "damaged.jpg", rgb, exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert read_image(file).shape == rgb.shape


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("jpg", "L"), ("jpg", "CMYK"), *((kind, mode) for kind in ("png", "tif") for mode in "LP1"), ("tif", "CMYK")],
)
def test_other_colour_models(tmp_path, rgb, mode, kind):
    file = tmp_path / f"leaf.{kind}"
    converted = Image.fromarray(rgb).convert(mode)
    converted.save(file)
    with Image.open(file) as picture:
        expected = np.asarray(picture.convert("RGB"))
    # Decoders round the conversion from CMYK differently.
    assert difference(read_image(file), expected) <= 2


@pytest.mark.parametrize("kind", ["png", "tif"])
def test_16_bit_channels_keep_the_upper_8_bits(tmp_path, rgb, kind):
    noise = np.random.default_rng(0).integers(0, 256, rgb.shape, dtype=np.uint16)
    deep = (rgb[:, :, ::-1].astype(np.uint16) << 8) + noise
    colour, grey = tmp_path / f"colour.{kind}", tmp_path / f"grey.{kind}"
    assert cv2.imwrite(str(colour), deep)
    assert cv2.imwrite(str(grey), deep[:, :, 0])
    # libtiff and libpng cut or round the lower byte.
    assert difference(read_image(colour), rgb) <= 1
    assert difference(read_image(grey), np.repeat(rgb[:, :, 2:], 3, axis=2)) <= 1


def apply_orientation(picture: np.ndarray, orientation: int) -> np.ndarray:
    """Undo the eight ways in which a picture may be stored, as TIFF 6.0 defines tag 274."""
    turned = picture.swapaxes(0, 1) if orientation >= 5 else picture
    rows = slice(None, None, -1 if orientation in {3, 4, 7, 8} else 1)
    cols = slice(None, None, -1 if orientation in {2, 3, 6, 7} else 1)
    return turned[rows, cols]


def make_deep(picture: np.ndarray) -> np.ndarray:
    return (picture.astype(np.uint16) << 8) + np.random.default_rng(0).integers(0, 256, picture.shape, dtype=np.uint16)


COLOURS = np.random.default_rng(1).integers(0, 1 << 16, (3, 256), dtype=np.uint16)
# From a picture to what is stored, and the options with which tifffile stores it.
TIFF_KINDS = {
    "grey": (lambda rgb: rgb[..., 0], {"photometric": "minisblack"}),
    "inverted": (lambda rgb: 255 - rgb[..., 0], {"photometric": "miniswhite"}),
    "grey 16": (lambda rgb: make_deep(rgb[..., 0]), {"photometric": "minisblack"}),
    "inverted 16": (lambda rgb: 65535 - make_deep(rgb[..., 0]), {"photometric": "miniswhite"}),
    "bilevel": (lambda rgb: rgb[..., 0] > 100, {"photometric": "minisblack"}),
    "palette": (lambda rgb: rgb[..., 0], {"photometric": "palette", "colormap": COLOURS}),
    "colour": (lambda rgb: rgb, {"photometric": "rgb"}),
    "planes": (lambda rgb: np.ascontiguousarray(rgb.transpose(2, 0, 1)), {"photometric": "rgb", "planarconfig": 2}),
    "colour 16": (make_deep, {"photometric": "rgb"}),
    "planes 16": (lambda rgb: make_deep(rgb.transpose(2, 0, 1)), {"photometric": "rgb", "planarconfig": 2}),
}


def find_shown_colours(kind: str, rgb: np.ndarray) -> np.ndarray:
    if kind == "bilevel":
        return np.repeat(np.where(rgb[..., :1] > 100, 255, 0), 3, axis=2)
    if kind == "palette":
        return (COLOURS >> 8).T[rgb[..., 0]]
    return rgb if kind.startswith(("colour", "planes")) else np.repeat(rgb[..., :1], 3, axis=2)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("layout", [{"rowsperstrip": 16}, {"tile": (32, 48)}], ids=["strips", "tiles"])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("kind", TIFF_KINDS)
def test_tiff_of_every_kind_layout_and_orientation(tmp_path, rgb, kind, compression, layout, order):
    stored, options = TIFF_KINDS[kind]
    shown = find_shown_colours(kind, rgb)
    refused = (kind == "planes 16" and "tile" in layout) or (kind == "inverted 16" and order == ">")
    for orientation in range(1, 9):
        file = tmp_path / f"{orientation}.tif"
        with tifffile.TiffWriter(file, byteorder=order) as writer:
            tags = [(274, "H", 1, orientation, True)]
            writer.write(stored(rgb), compression=compression, metadata=None, extratags=tags, **options, **layout)
        if refused:
            with pytest.raises(ImageError, match="expected"):
                read_image(file)
            continue
        expected = apply_orientation(shown, orientation)
        assert read_image_size(file) == expected.shape[:2]
        # libtiff cuts or rounds the lower byte of 16 bits.
        assert difference(read_image(file), expected) <= 1, orientation


@pytest.mark.parametrize("channels", [1, 3])
def test_transparent_colour_of_a_16_bit_png_becomes_white(tmp_path, rgb, channels):
    deep = make_deep(rgb[..., :channels])
    deep[:10] = deep[0, 0]
    key = [int(value) for value in deep[0, 0]]
    file = tmp_path / "leaf.png"
    rows = b"".join(b"\0" + row.tobytes() for row in deep.astype(">u2"))
    file.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 80, 60, 16, 0 if channels == 1 else 2, 0, 0, 0))
        + png_chunk(b"tRNS", struct.pack(f">{channels}H", *key))
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )
    expected = np.repeat(rgb[..., :1], 3, axis=2) if channels == 1 else rgb.copy()
    expected[(deep == deep[0, 0]).all(axis=2)] = 255
    assert difference(read_image(file), expected) <= 1


def test_transparent_parts_become_white(tmp_path, rgb):
    alpha = np.full((60, 80), 255, np.uint8)
    alpha[:, :20] = 0
    alpha[:, 20:40] = 128
    expected = np.round(rgb * (alpha[..., None] / 255) + 255 * (1 - alpha[..., None] / 255)).astype(np.uint8)
    for kind in ("png", "tif", "webp"):
        options = {"lossless": True} if kind == "webp" else {}
        file = save(tmp_path / f"leaf.{kind}", np.dstack([rgb, alpha]), **options)
        assert difference(read_image(file), expected) <= 1, kind
    palette = Image.fromarray(rgb).quantize(8)
    palette.save(tmp_path / "palette.png", transparency=palette.getpixel((0, 0)))
    image = read_image(tmp_path / "palette.png")
    assert (image[0, 0] == 255).all()
    assert (image[40, 70] < 255).any()


@pytest.mark.parametrize("kind", ["jpg", "png"])
@pytest.mark.parametrize("max_side", [400, 399, 200, 150, 100, 99, 50, 47])
def test_max_side_is_exact(tmp_path, rgb, kind, max_side):
    large = cv2.resize(rgb, (400, 301), interpolation=cv2.INTER_CUBIC)
    file = save(tmp_path / f"leaf.{kind}", large)
    image = read_image(file, max_side)
    assert image.shape == (math.ceil(301 * max_side / 400), max_side, 3)
    if max_side < 400:
        expected = cv2.resize(read_image(file), image.shape[1::-1], interpolation=cv2.INTER_AREA)
        # Reduced JPEG decoding averages in frequency space: close to the average over areas, but not it.
        assert np.abs(image.astype(int) - expected).mean() < (2 if kind == "jpg" else 1e-9)


def test_small_pictures_are_not_enlarged(tmp_path, rgb):
    file = save(tmp_path / "leaf.png", rgb)
    assert (read_image(file, 1000) == read_image(file)).all()


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(16, 300), cols=st.integers(16, 300), max_side=st.integers(1, 320))
def test_size_is_the_proportion_rounded_up(tmp_path_factory, rows, cols, max_side):
    file = tmp_path_factory.mktemp("sizes") / "leaf.jpg"
    cv2.imwrite(str(file), np.full((rows, cols, 3), 90, np.uint8))
    scale = min(Fraction(1), Fraction(max_side, max(rows, cols)))
    assert read_image(file, max_side).shape[:2] == (math.ceil(rows * scale), math.ceil(cols * scale))


def test_max_side_below_1(tmp_path, rgb):
    with pytest.raises(ValueError, match="max_side"):
        read_image(save(tmp_path / "leaf.png", rgb), 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9, 0.995])
def test_truncated(tmp_path, rgb, kind, share):
    file = save(tmp_path / f"leaf.{kind}", rgb)
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ImageError, match=rf"{file}: expected .*(whole|JPEG)"):
        read_image(file)


def test_truncated_jpeg_with_a_whole_thumbnail(tmp_path, rgb):
    thumbnail = save(tmp_path / "thumbnail.jpg", rgb[::4, ::4]).read_bytes()
    data = save(tmp_path / "leaf.jpg", rgb).read_bytes()
    segment = b"Exif\0\0" + thumbnail
    with_thumbnail = data[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + data[2:]
    whole, cut = tmp_path / "whole.jpg", tmp_path / "cut.jpg"
    whole.write_bytes(with_thumbnail)
    cut.write_bytes(with_thumbnail[:-20])
    assert read_image(whole).shape == rgb.shape
    with pytest.raises(ImageError, match="truncated JPEG"):
        read_image(cut)


def test_trailing_bytes_are_allowed(tmp_path, rgb):
    for kind in ("jpg", "png"):
        file = save(tmp_path / f"leaf.{kind}", rgb)
        file.write_bytes(file.read_bytes() + b"\0" * 100)
        assert read_image(file).shape == rgb.shape


def test_damage_inside_a_jpeg_is_logged(tmp_path, rgb, caplog, capfd):
    file = save(tmp_path / "leaf.jpg", rgb)
    data = bytearray(file.read_bytes())
    middle = len(data) - 300
    data[middle : middle + 40] = b"\0" * 40
    file.write_bytes(data)
    assert read_image(file).shape == rgb.shape
    assert str(file) in caplog.text
    assert "damaged inside" in caplog.text
    assert "Corrupt" not in capfd.readouterr().err


def test_damage_inside_a_png(tmp_path, rgb, capfd):
    file = save(tmp_path / "leaf.png", rgb)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(ImageError, match="damaged PNG"):
        read_image(file)
    assert capfd.readouterr().err == ""


def test_works_without_stderr(tmp_path, rgb):
    file = save(tmp_path / "leaf.jpg", rgb)
    code = f"import os; os.close(2); from leafid.images import read_image; print(read_image({str(file)!r}).shape)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(60, 80, 3)"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", r"an empty file \(0 bytes\)"),
        (b"Acer campestre, Montpellier", "text"),
        (b"GIF89a" + b"\0" * 20, "a damaged GIF header"),
        (b"%PDF-1.7 and more of it", "a PDF"),
        (b"\0\0\0\x20ftypavif\0\0\0\0", "a damaged AVIF header"),
        (b"\0\0\0\x20ftypqt  \0\0\0\0", "a video"),
        (b"\0\0\0\x20ftypcrx \0\0\0\0", r"raw data of a camera \(CR3\)"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "something else"),
        (b"\0" * 64, "something else"),
        (b"\xff\xd8\xff", "a damaged JPEG header"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "a damaged PNG header"),
        (b"II*\0" + b"\xff" * 100, "a damaged TIFF header"),
        (b"BM" + b"\xff" * 100, "a damaged BMP header"),
    ],
)
def test_not_a_picture(tmp_path, content, found):
    file = tmp_path / "leaf.jpg"
    file.write_bytes(content)
    for read in (read_image, read_image_size):
        with pytest.raises(ImageError, match=found) as raised:
            read(file)
        assert str(raised.value).startswith(f"{file}: expected ")
        assert "\n" not in str(raised.value)


def test_no_file_and_folder(tmp_path):
    with pytest.raises(ImageError, match="no such file"):
        read_image(tmp_path / "none.jpg")
    with pytest.raises(ImageError, match="found a folder"):
        read_image(tmp_path)
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(ImageError, match="found no file"):
        read_image(tmp_path / "pipe.jpg")
    assert issubclass(ImageError, LeafidError)


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png_header(rows: int, cols: int) -> bytes:
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + png_chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + png_chunk(b"IEND", b"")


def test_chunks_larger_than_a_png_are_refused_before_decoding(tmp_path, monkeypatch):
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("libpng would allocate 4 GB"))
    file = tmp_path / "leaf.png"
    content = png_header(30, 30)
    start = content.index(b"IDAT") - 4
    file.write_bytes(content[:start] + b"\xff" * 4 + content[start + 4 :])
    with pytest.raises(ImageError, match="truncated PNG"):
        read_image(file)


@pytest.mark.parametrize("read", [read_image, read_image_size])
def test_long_runs_of_fill_bytes_are_refused(tmp_path, rgb, read):
    file = save(tmp_path / "leaf.jpg", rgb)
    data = file.read_bytes()
    file.write_bytes(data[:2] + b"\xff" * 1000 + data[2:])
    read(file)
    file.write_bytes(data[:2] + b"\xff" * 20_000_000 + data[2:])
    started = time.perf_counter()
    with pytest.raises(ImageError, match="20000001 fill bytes in a row"):
        read(file)
    assert time.perf_counter() - started < 5  # decoding takes over 30 s


@pytest.mark.parametrize(("rows", "cols"), [(30_000, 30_000), (10_000, MAX_PIXELS // 10_000 + 1), (2**31 - 1, 20)])
def test_huge_pictures_are_refused_before_decoding(tmp_path, monkeypatch, rows, cols):
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("was decoded"))
    file = tmp_path / "huge.png"
    file.write_bytes(png_header(rows, cols))
    for read in (read_image, read_image_size):
        with pytest.raises(ImageError, match="at most 100 megapixels"):
            read(file)


def test_narrow_pictures_are_refused(tmp_path):
    file = save(tmp_path / "narrow.png", np.zeros((100, 8, 3), np.uint8))
    with pytest.raises(ImageError, match="at least 16 × 16 pixels, found 8 × 100"):
        read_image(file)
    assert read_image(save(tmp_path / "enough.png", np.zeros((16, 16, 3), np.uint8))).shape == (16, 16, 3)


def test_float_tiff_is_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "float.tif"), np.zeros((20, 20), np.float32))
    with pytest.raises(ImageError, match="8 or 16 bits"):
        read_image(tmp_path / "float.tif")


def test_real_pictures_equal_those_read_by_opencv(real_data):
    for file in sorted((real_data / "imageclef2011" / "Train").glob("*.jpg"))[:200:10]:
        assert (read_image(file) == cv2.imread(str(file))).all()
        assert max(read_image(file, 300).shape) == 300


def test_a_jpeg_of_a_thousand_scans_is_refused(tmp_path):
    content = io.BytesIO()
    Image.new("RGB", (64, 64), "green").save(content, "JPEG", progressive=True)
    data = content.getvalue()
    scan = data[data.rindex(b"\xff\xda") : -2]
    file = tmp_path / "leaf.jpg"
    file.write_bytes(data[:-2] + 1000 * scan + data[-2:])
    with pytest.raises(ImageError, match="expected a JPEG of at most 100 scans, found 10"):
        read_image(file)
    # What follows the end of the picture doesn't count.
    file.write_bytes(data + 1000 * scan + data[-2:])
    assert read_image(file).shape == (64, 64, 3)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("is_big", [False, True])
def test_a_tiff_of_a_million_strips_is_refused(tmp_path, order, is_big):
    word = "Q" if is_big else "I"
    mark = {"<": b"II", ">": b"MM"}[order]
    header = struct.pack(f"{order}HHHQ", 43, 8, 0, 16) if is_big else struct.pack(f"{order}HI", 42, 8)
    count = struct.pack(f"{order}{'Q' if is_big else 'H'}", 2)
    width = struct.pack(f"{order}HH{word}{word}", 256, 3, 1, 0)
    strips = struct.pack(f"{order}HH{word}{word}", 273, 4, 10**6, 0)
    file = tmp_path / "leaf.tif"
    file.write_bytes(mark + header + count + width + strips)
    with pytest.raises(ImageError, match="at most 131072 strips or tiles, found 1000000"):
        read_image(file)
