"""From a picture to its leaf, by the method that suits the acquisition type."""

import numpy as np

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.natural import segment_photo
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.result import Image, Segmentation, find_bounding_box
from leafid.segmentation.sheet import segment_sheet


def segment(image: Image, acquisition_type: AcquisitionType, *, petiole: bool = True) -> Segmentation:
    """Cut the leaf out of a picture: from its sheet in scans and scan-likes, from any background in photos.

    Where no leaf was found, as in an all-white scan, the mask is empty and the confidence 0. Without `petiole`, the
    petiole is not separated: the blade equals the mask. What is no image of uint8 (H, W, 3) raises a ValueError.
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        found = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise ValueError(f"expected an image, uint8 of shape (H, W, 3), found {found}")
    if 0 in image.shape:
        raise ValueError(f"expected an image of at least one pixel, found shape {image.shape}")
    if acquisition_type is AcquisitionType.PHOTO:
        (mask, confidence), coverage = segment_photo(image), None
    else:
        mask, confidence, coverage = segment_sheet(image)
    blade = remove_petiole(mask) if petiole else mask.copy()
    return Segmentation(mask, blade, confidence, find_bounding_box(mask), coverage)
