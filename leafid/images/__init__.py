"""The one place that reads images: allowed formats, size limits, orientation, and one pixel format for all.

An image is ``uint8 (H, W, 3)`` in OpenCV's BGR order; a mask is ``bool (H, W)``.
"""

from leafid.errors import ImageError
from leafid.images.decoding import encode_jpeg, read_hashed_image, read_image, read_image_size

__all__ = ["ImageError", "encode_jpeg", "read_hashed_image", "read_image", "read_image_size"]
