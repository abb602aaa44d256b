"""The size of a pixel, from the resolution that a file declares."""

import math
import os

from leafid.pictures.header import identify_format, open_picture, read_picture_bytes

MM_PER_INCH = 25.4
# Resolutions in dots per inch that scanners write; cameras and programs write 72 and 96, whatever the picture shows.
_LEAST_DPI, _MOST_DPI = 100, 2400
_EXIF_IFD, _EXPOSURE_TIME, _FOCAL_LENGTH = 0x8769, 33434, 37386


def read_mm_per_pixel(file: str | os.PathLike[str]) -> float | None:
    """Read the size of a pixel in millimetres that a picture declares; None where it declares none, or no scanner's.

    A picture that was exposed by a camera has no size, whatever it declares.
    """
    data = read_picture_bytes(file)
    with open_picture(str(identify_format(data)), data) as picture:
        across, down = picture.info.get("dpi", (0, 0))
        exposure = (
            picture.getexif().get_ifd(_EXIF_IFD) if "exif" in picture.info else {}
        )
    is_exposed = _EXPOSURE_TIME in exposure or _FOCAL_LENGTH in exposure
    is_plausible = _LEAST_DPI <= across <= _MOST_DPI and math.isclose(
        across, down, rel_tol=0.01
    )
    return MM_PER_INCH / float(across) if is_plausible and not is_exposed else None
