import math

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps

from leafid.pictures.decoding import read_image
from tests.pictures.picture_making import KINDS, LOSSLESS, difference, make_deep, save


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_becomes_8_bit_bgr(tmp_path, rgb, kind):
    options = {"jpg": {"quality": 95, "subsampling": 0}, **LOSSLESS}
    file = save(tmp_path / f"leaf.{kind}", rgb, **options.get(kind, {}))
    image = read_image(file)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous
    # JPEG at this quality is off by a few grey values at the sharp edge, as is a
    # palette of 256 colours; HEIC rounds the conversion to YCbCr; the others keep every
    # value.
    assert difference(image, rgb) <= {"jpg": 12, "gif": 16, "heic": 3, "avif": 3}.get(
        kind, 0
    )


@pytest.mark.parametrize("kind", ["jpg", "png", "webp"])
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
    # Two JPEG decoders may round differently.
    assert difference(image, upright) <= 3
    assert read_image(file, 40).shape == (
        (30, 40, 3) if orientation < 5 else (40, 30, 3)
    )


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("jpg", "L"),
        ("jpg", "CMYK"),
        *((kind, mode) for kind in ("png", "tif") for mode in "LP1"),
        ("tif", "CMYK"),
    ],
)
def test_other_colour_models(tmp_path, rgb, mode, kind):
    file = tmp_path / f"leaf.{kind}"
    converted = Image.fromarray(rgb).convert(mode)
    converted.save(file)
    with Image.open(file) as picture:
        expected = np.asarray(picture.convert("RGB"))
    # Decoders round the conversion from CMYK differently.
    assert difference(read_image(file), expected) <= 2


def test_16_bit_channels_keep_the_upper_8_bits(tmp_path, rgb):
    deep = make_deep(rgb[:, :, ::-1])
    colour, grey = tmp_path / "colour.png", tmp_path / "grey.png"
    assert cv2.imwrite(str(colour), deep)
    assert cv2.imwrite(str(grey), deep[:, :, 0])
    # libpng cuts or rounds the lower byte.
    assert difference(read_image(colour), rgb) <= 1
    assert difference(read_image(grey), np.repeat(rgb[:, :, 2:], 3, axis=2)) <= 1


def test_transparent_parts_become_white(tmp_path, rgb):
    alpha = np.full((60, 80), 255, np.uint8)
    alpha[:, :20] = 0
    alpha[:, 20:40] = 128
    expected = np.round(
        rgb * (alpha[..., None] / 255) + 255 * (1 - alpha[..., None] / 255)
    ).astype(np.uint8)
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
@pytest.mark.parametrize("max_side", [400, 399, 200, 99, 47])
def test_max_side_is_exact(tmp_path, rgb, kind, max_side):
    large = cv2.resize(rgb, (400, 301), interpolation=cv2.INTER_CUBIC)
    file = save(tmp_path / f"leaf.{kind}", large)
    image = read_image(file, max_side)
    assert image.shape == (math.ceil(301 * max_side / 400), max_side, 3)
    if max_side < 400:
        expected = cv2.resize(
            read_image(file), image.shape[1::-1], interpolation=cv2.INTER_AREA
        )
        # Reduced JPEG decoding averages in frequency space: close to the average over
        # areas, but not it.
        assert np.abs(image.astype(int) - expected).mean() < (
            2 if kind == "jpg" else 1e-9
        )
