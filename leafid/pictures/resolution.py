"""The size of a pixel, from the resolution that a file declares."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image
from PIL.ExifTags import IFD
from PIL.ExifTags import Base as ExifTag

from leafid.files import StrPath
from leafid.pictures.header import identify_format, open_picture, read_picture_bytes

MM_PER_INCH = 25.4
# Resolutions in dots per inch that scanners write, rounded, as PNG has dots per metre.
# Programs write 72 and 96, whatever the picture shows.
_LEAST_DPI = 100
_MOST_DPI = 2400
# Pages and scanner beds, in millimetres: A4, Letter, both, Legal and A3; by which part
# a picture may be off.
_PAGES = ((210, 297), (216, 279), (216, 297), (216, 356), (297, 420))
_PAGE_TOLERANCE = 0.02
# Confidence in the resolution of other pictures, which are cut off or resized.
_MAYBE_RESIZED = 0.5
# Resolutions are the same that differ by less than this part.
_SAME = 0.01
# The value of EXIF for centimetres as a unit.
_CENTIMETRES = 3
# What no scanner writes.
_CAMERA_TAGS = {
    ExifTag.ExposureTime,
    ExifTag.FNumber,
    ExifTag.ISOSpeedRatings,
    ExifTag.FocalLength,
    ExifTag.MakerNote,
}
# In the makes and models of scanners.
_SCANNERS = re.compile(
    "scan|epson|perfection|expression|lide|brother|plustek|microtek|mustek|umax|avision|xerox|lexmark",
    re.IGNORECASE,
)


def read_mm_per_pixel(file: StrPath) -> tuple[float | None, str | None]:
    """Read the size of a pixel in millimetres, if a scanner can have written it.

    A picture by a camera has no size, whatever it declares. Also return what a person
    should know about the choice: that it is a camera's, or that parts of the file
    differ.
    """
    data = read_picture_bytes(file)
    kind = str(identify_format(data))
    try:
        with open_picture(kind, data) as picture:
            # For a PNG without an EXIF block, getexif would decode the picture.
            has_exif = kind == "TIFF" or "exif" in picture.info
            exif = picture.getexif() if has_exif else Image.Exif()
            camera = _identify_camera(exif)
            declared = _list_resolutions(kind, picture.info, exif)
    except Exception:  # A damaged EXIF block raises errors of any class.
        return None, "its EXIF block is damaged, and says no size"
    for name, (dpi, down) in declared.items():
        is_square = math.isclose(dpi, down, rel_tol=_SAME)
        if not (is_square and _LEAST_DPI <= round(dpi) <= _MOST_DPI):
            continue
        if camera:
            return None, f"{dpi:.0f} dpi are by a camera ({camera}), and say no size"
        for source, (across, _) in declared.items():
            if not math.isclose(across, dpi, rel_tol=_SAME):
                remark = (
                    f"{dpi:.0f} dpi by {name} are taken, not {across:.0f} by {source}"
                )
                return MM_PER_INCH / dpi, remark
        return MM_PER_INCH / dpi, None
    return None, None


def rate_resolution(mm_per_pixel: float | None, shape: tuple[int, ...]) -> float | None:
    """Rate how sure a file's size of a pixel is: 1 for a picture as large as a page.

    Any other picture may have been resized, and keep its resolution. None without a
    size.
    """
    if mm_per_pixel is None:
        return None
    sides = [side * mm_per_pixel for side in sorted(shape)]
    is_page = np.isclose(sides, _PAGES, rtol=_PAGE_TOLERANCE).all(axis=1)
    return 1.0 if is_page.any() else _MAYBE_RESIZED


def _identify_camera(exif: Image.Exif) -> str:
    """Return make and model of the camera that took a picture.

    Empty where it may be a scan.
    """
    tags = (ExifTag.Make, ExifTag.Model)
    words = [str(exif.get(tag, "")).strip("\0 ") for tag in tags]
    name = " ".join(words).strip()
    if _CAMERA_TAGS & {*exif.get_ifd(IFD.Exif)}:
        return name or "it has an exposure"
    if _SCANNERS.search(name):
        return ""
    return name


def _list_resolutions(
    kind: str, info: Mapping[Any, Any], exif: Image.Exif
) -> dict[str, tuple[float, float]]:
    """List the resolutions across and down in dots per inch by the parts of a file.

    The first has precedence.
    """
    resolutions = {}
    # Where the JFIF header of a JPEG has no resolution, Pillow reads the one in EXIF.
    if "dpi" in info and (kind != "JPEG" or info.get("jfif_unit")):
        across, down = info["dpi"]
        name = kind.replace("JPEG", "JFIF")
        resolutions[name] = float(across), float(down)
    across, down = map(exif.get, (ExifTag.XResolution, ExifTag.YResolution))
    if across is not None and down is not None:
        factor = 2.54 if exif.get(ExifTag.ResolutionUnit) == _CENTIMETRES else 1
        resolutions["EXIF"] = float(across) * factor, float(down) * factor
    return resolutions
