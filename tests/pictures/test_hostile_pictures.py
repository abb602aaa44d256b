import io
import struct
import time
import tracemalloc
import zlib

import pytest
from PIL import ExifTags, Image

from leafid.pictures.decoding import ImageError, convert_to_bgr, read_image
from leafid.pictures.header import MAX_PIXELS
from leafid.pictures.resolution import read_mm_per_pixel
from tests.pictures.picture_making import KINDS, png_chunk, save


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.02, 0.9, 0.995])
def test_truncated(tmp_path, rgb, kind, share):
    file = save(tmp_path / f"leaf.{kind}", rgb)
    data = file.read_bytes()
    # The pixels of a PNG are whole without its last 16 bytes.
    n_bytes = len(data) - 20 * (kind == "png")
    file.write_bytes(data[: int(n_bytes * share)])
    with pytest.raises(ImageError, match=rf"{file}: expected .*(whole|JPEG)"):
        read_image(file)


def test_truncated_jpeg_with_a_whole_thumbnail(tmp_path, rgb):
    thumbnail = save(tmp_path / "thumbnail.jpg", rgb[::4, ::4]).read_bytes()
    data = save(tmp_path / "leaf.jpg", rgb).read_bytes()
    segment = b"Exif\0\0" + thumbnail
    with_thumbnail = (
        data[:2]
        + b"\xff\xe1"
        + struct.pack(">H", len(segment) + 2)
        + segment
        + data[2:]
    )
    whole, cut = tmp_path / "whole.jpg", tmp_path / "cut.jpg"
    whole.write_bytes(with_thumbnail)
    cut.write_bytes(with_thumbnail[:-20])
    assert read_image(whole).shape == rgb.shape
    with pytest.raises(ImageError, match="truncated JPEG"):
        read_image(cut)


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


def test_a_damaged_exif_block_is_ignored_without_a_warning(tmp_path, rgb, recwarn):
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "a camera of a long name"
    # Pillow itself reads the block of a JPEG without a resolution.
    file = save(tmp_path / "damaged.jpg", rgb, exif=exif, dpi=(72, 72))
    data = file.read_bytes()
    # The number of letters is beyond the end of the block.
    file.write_bytes(data.replace(b"\x01\x0f\0\2\0\0\0", b"\x01\x0f\0\2\x7f\0\0"))
    assert file.read_bytes() != data
    assert read_image(file).shape == rgb.shape
    assert read_mm_per_pixel(file) == (None, None)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "found 0 bytes"),
        (b"Acer campestre, Montpellier", "something else"),
        (b"GIF89a" + b"\0" * 20, "a damaged GIF header"),
        (b"\0\0\0\x20ftypavif\0\0\0\0", "a damaged AVIF header"),
        (b"\0\0\0\x20ftypcrx \0\0\0\0", "something else"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "something else"),
        (b"PK\3\4 leaves", "an archive; unpack it"),
        (b"\x1f\x8b\x08 leaves", "an archive; unpack it"),
        (b"\xff\xd8\xff", "a truncated JPEG"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "a damaged PNG header"),
        (b"II*\0" + b"\xff" * 100, "of a kind that can't be read"),
        (b"BM" + b"\xff" * 100, "a damaged BMP header"),
    ],
)
def test_not_a_picture(tmp_path, content, reason):
    file = tmp_path / "leaf.jpg"
    file.write_bytes(content)
    with pytest.raises(ImageError, match=reason) as raised:
        read_image(file)
    assert str(raised.value).startswith(f"{file}: expected ")
    assert "\n" not in str(raised.value)


def png_header(rows: int, cols: int) -> bytes:
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, 8, 2, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + png_chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + png_chunk(b"IEND", b"")
    )


def jpeg_segments(data, *segments):
    """Put segments before those of a JPEG."""
    parts = [
        b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment
        for segment in segments
    ]
    return data[:2] + b"".join(parts) + data[2:]


def tiff_of_one_block(n_tags, n_bytes):
    """Make a TIFF whose tags all have the same bytes."""
    start = 8 + 2 + 12 * n_tags + 4
    tags = b"".join(
        struct.pack("<HHII", 40_000 + number, 1, n_bytes, start)
        for number in range(n_tags)
    )
    return b"II*\0" + struct.pack("<IH", 8, n_tags) + tags + bytes(4 + n_bytes)


HOSTILE_HEADERS = {
    "fill bytes in a row": (
        lambda files: files["jpg"][:2] + b"\xff" * 20_000_000 + files["jpg"][2:],
        "bytes before the pixels",
    ),
    "junk": (
        lambda files: files["jpg"][:2] + b"\xff\0" * 10_000_000 + files["jpg"][2:],
        "bytes before the pixels",
    ),
    "restart marks": (
        lambda files: files["jpg"][:2] + b"\xff\xd0" * 10_000_000 + files["jpg"][2:],
        "segments",
    ),
    "Exif": (
        lambda files: jpeg_segments(
            files["jpg"], *[b"Exif\0\0" + bytes(65_000)] * 1500
        ),
        "bytes before the pixels",
    ),
    "tags": (lambda files: tiff_of_one_block(10_000, 2_000_000), "values of tags"),
}


@pytest.mark.parametrize("case", HOSTILE_HEADERS)
def test_headers_that_take_minutes_are_refused_in_seconds(tmp_path, rgb, case):
    make, reason = HOSTILE_HEADERS[case]
    files = {
        kind: save(tmp_path / f"leaf.{kind}", rgb).read_bytes()
        for kind in ("jpg", "png")
    }
    file = tmp_path / "hostile"
    file.write_bytes(make(files))
    started = time.process_time()
    with pytest.raises(ImageError, match=reason):
        read_image(file)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("mode", ["P", "RGB", "RGBA", "I;16"])
def test_conversion_takes_little_more_memory_than_its_result(mode):
    picture = Image.new(mode, (3000, 2000))
    tracemalloc.start()
    try:
        image = convert_to_bgr(picture)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert image.shape == (2000, 3000, 3)
    assert peak < 1.2 * image.nbytes


@pytest.mark.parametrize(
    ("rows", "cols"),
    [(30_000, 30_000), (10_000, MAX_PIXELS // 10_000 + 1), (2**31 - 1, 20)],
)
def test_huge_pictures_are_refused_before_decoding(tmp_path, rows, cols):
    file = tmp_path / "huge.png"
    file.write_bytes(png_header(rows, cols))
    with pytest.raises(ImageError, match="at most 100 megapixels"):
        read_image(file)


def test_a_jpeg_of_a_thousand_scans_is_refused(tmp_path):
    content = io.BytesIO()
    Image.new("RGB", (64, 64), "green").save(content, "JPEG", progressive=True)
    data = content.getvalue()
    scan = data[data.rindex(b"\xff\xda") : -2]
    file = tmp_path / "leaf.jpg"
    file.write_bytes(data[:-2] + 1000 * scan + data[-2:])
    with pytest.raises(ImageError, match="at most 100 scans, found 10"):
        read_image(file)
    # What follows the end of the picture doesn't count.
    file.write_bytes(data + 1000 * scan + data[-2:])
    assert read_image(file).shape == (64, 64, 3)
