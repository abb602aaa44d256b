"""Contours of objects, and the label masks that they enclose."""

import numpy as np

from leafid.errors import LeafidError


def fill_contours(contours: np.ndarray) -> np.ndarray:
    """Fill closed contours: from pixels, int (H, W), that are not 0 on contours, to a label mask, int32 (H, W).

    Contours of one value surround objects that are numbered from 1, by their first pixels row by row; of several values
    each is the number of one object, and where these overlap, the smaller object counts. Contours belong to their
    objects. A contour that encloses no pixel raises a `LeafidError`.

    Examples
    --------
    >>> square = np.zeros((5, 6), int)
    >>> square[1:4, 1:5] = [[7, 7, 7, 7], [7, 0, 0, 7], [7, 7, 7, 7]]
    >>> fill_contours(square)[2]
    array([0, 1, 1, 1, 1, 0], dtype=int32)
    """
    from scipy.ndimage import binary_fill_holes

    values = np.unique(contours[contours != 0])
    if len(values) <= 1:
        return _number_regions(contours != 0)
    regions = {int(value): binary_fill_holes(contours == value) for value in values}
    labels = np.zeros(contours.shape, np.int32)
    for value, region in sorted(regions.items(), key=lambda item: -np.count_nonzero(item[1])):
        _check_closed(contours == value, region)
        labels[region] = value
    return labels


def _number_regions(contours: np.ndarray) -> np.ndarray:
    from scipy.ndimage import binary_fill_holes, distance_transform_edt, label

    filled = binary_fill_holes(contours)
    _check_closed(contours, filled)
    # Without diagonal neighbours, so that the regions on both sides of a thin contour stay apart.
    labels, n_regions = label(filled & ~contours)
    if n_regions:
        rows, columns = distance_transform_edt(labels == 0, return_distances=False, return_indices=True)
        labels = np.where(contours, labels[rows, columns], labels)
    return labels.astype(np.int32)


def _check_closed(contours: np.ndarray, filled: np.ndarray) -> None:
    from scipy.ndimage import label

    pieces, n_pieces = label(filled, np.ones((3, 3)))
    is_closed = np.zeros(n_pieces + 1, bool)
    is_closed[np.unique(pieces[filled & ~contours])] = True
    is_open = (pieces > 0) & ~is_closed[pieces]
    if is_open.any():
        row, column = np.argwhere(is_open)[0]
        raise LeafidError(f"expected closed contours, found one at row {row}, column {column} that encloses no pixel")
