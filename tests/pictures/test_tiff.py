import struct

import numpy as np
import pytest
import tifffile

from leafid.pictures.decoding import ImageError, read_image, read_image_size
from tests.pictures.picture_making import apply_orientation, difference, make_deep

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
    refused = kind == "planes 16" or (kind == "inverted 16" and order == ">")
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


@pytest.mark.parametrize(
    ("dtype", "shape", "photometric"),
    [
        ("f2", (40, 50), "minisblack"),
        ("f4", (40, 50, 3), "rgb"),
        ("i1", (40, 50), "minisblack"),
        ("u4", (40, 50), "minisblack"),
        ("c8", (40, 50), "minisblack"),
        ("u1", (40, 50, 5), "rgb"),
        ("u2", (40, 50, 3), "cielab"),
        ("u1", (40, 50), "cfa"),
        ("u2", (40, 50, 3), "logluv"),
    ],
)
def test_unusual_kinds_are_called_so_and_not_damaged(tmp_path, dtype, shape, photometric):
    file = tmp_path / "leaf.tif"
    planes = {} if len(shape) == 2 else {"planarconfig": 1}
    tifffile.imwrite(file, np.zeros(shape, dtype), photometric=photometric, metadata=None, **planes)
    for read in (read_image, read_image_size):
        with pytest.raises(ImageError, match="of a kind that can't be read"):
            read(file)


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
