"""RootSIFT of grey and colour channels: on a grid, at detected points, of patches."""

import cv2
import numpy as np

from leafid.descriptors.local.gradients import SIFT_LENGTH, Pyramid
from leafid.descriptors.local.grid import ALL_PATCHES, Grid, LocalFeatures, read_patches
from leafid.segmentation.pixels import Mask

CHROMA_LENGTH = 2 * SIFT_LENGTH
# Sum of a cell's gradients, of grey values in [0, 1], that camera noise explains.
_NOISE_FLOOR = 0.02
_MAX_POINTS = 500


def extract_dense_sift(
    grey: Pyramid, region: Mask | None = None, grid: Grid = ALL_PATCHES
) -> LocalFeatures:
    """Extract RootSIFT descriptors on a grid, at several patch sizes.

    One plane of gradient strength per orientation is averaged over square cells. A
    descriptor is a patch of 4 × 4 cells, so that neighbouring descriptors share their
    cells. Larger patches are read from reduced copies of the picture. Patches are
    upright: turn the leaf first where its orientation should not matter.

    Parameters
    ----------
    grey : Pyramid
        The picture, uint8 (H, W).
    region : bool (H, W), optional
        Only patches that it covers are taken; by default all are.
    grid : Grid
        By default, all patches of five sizes.

    Returns
    -------
    LocalFeatures
        The 128 values of a patch are non-negative with an L2 norm below 1: near 1 where
        there is structure, 0 where there is none.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV
       60(2), 2004, doi:10.1023/B:VISI.0000029664.99615.94
    .. [2] R. Arandjelović, A. Zisserman, "Three things everyone should know to improve
       object retrieval", CVPR 2012, doi:10.1109/CVPR.2012.6248018
    """
    return normalise_patches(read_patches(grey, region, grid))


def extract_chroma_sift(
    chroma: Pyramid, region: Mask | None = None, grid: Grid = ALL_PATCHES
) -> LocalFeatures:
    """Extract RootSIFT descriptors of Lab's colour channels on a grid.

    They show where hues meet, as at veins, stalks, young shoots and light that shines
    through, and not the colour of a patch as a whole. Both channels are normalised
    together. Patches in which hues change no more than by camera noise are dropped; a
    grey picture keeps none.

    Parameters
    ----------
    chroma : Pyramid
        The picture, uint8 (H, W, 2).
    region : bool (H, W), optional
        Only patches that it covers are taken; by default all are.
    grid : Grid
        As for `extract_dense_sift`.

    Returns
    -------
    LocalFeatures
        The 256 values of a patch are non-negative with an L2 norm below 1: for each
        cell eight of a (green to red) and eight of b (blue to yellow).

    References
    ----------
    .. [1] K. van de Sande, T. Gevers, C. Snoek, "Evaluating color descriptors for
       object and scene recognition", IEEE TPAMI 32(9), 2010, section 3.3,
       doi:10.1109/TPAMI.2009.154
    """
    return normalise_patches(read_patches(chroma, region, grid), min_sum=_NOISE_FLOOR)


def extract_detected_sift(
    grey: Pyramid, region: Mask | None = None, grid: Grid = ALL_PATCHES
) -> LocalFeatures:
    """Extract RootSIFT descriptors at the 500 strongest points of SIFT's detector.

    Parameters
    ----------
    grey : Pyramid
        The picture, uint8 (H, W).
    region : bool (H, W), optional
        Only points in it are taken; by default all are.
    grid : Grid
        It has no effect.

    Returns
    -------
    LocalFeatures
        The 128 values of a patch are non-negative with an L2 norm just below 1.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV
       60(2), 2004, doi:10.1023/B:VISI.0000029664.99615.94
    """
    mask = None if region is None else region.astype(np.uint8)
    detector = cv2.SIFT.create(nfeatures=_MAX_POINTS)
    points, descriptors = detector.detectAndCompute(grey.picture, mask)
    if not points:
        return LocalFeatures.zeros(0, SIFT_LENGTH)
    shape = grey.picture.shape
    places = np.array([point.pt[::-1] for point in points])
    sides = np.array([point.size for point in points], np.float32) / max(shape)
    sums = descriptors.sum(axis=1, keepdims=True)
    return LocalFeatures(
        descriptors=np.sqrt(descriptors / (sums + _NOISE_FLOOR)),
        positions=(places / shape).astype(np.float32),
        scales=np.log2(sides),
    )


def normalise_patches(patches: LocalFeatures, min_sum: float = 0.0) -> LocalFeatures:
    """Normalise patches of square roots in place.

    Patches whose gradients have a smaller sum are dropped.
    """
    # The squares sum to the sum of the patch's gradients.
    sums = np.einsum("ij,ij->i", patches.descriptors, patches.descriptors)
    patches.descriptors[...] *= (1 / np.sqrt(sums + _NOISE_FLOOR))[:, None]
    is_kept = sums >= min_sum
    return patches if is_kept.all() else patches.take(np.flatnonzero(is_kept))
