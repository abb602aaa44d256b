"""Measures by which leaves on sheets are distinguished from other things.

Families of shape and texture are measured beside the condition of the mask.
"""

import numpy as np

from leafid.descriptors.arrays import Singles
from leafid.segmentation.condition import Condition
from leafid.segmentation.result import Segmentation

#: Families that are measured beside the families of the experts; they take little time.
LEAF_FAMILIES = frozenset({"hu", "arch", "triangle", "lobes"})
#: The parts of the condition that are measures of leaves: the size of the leaf in
#: pixels, and the light, are the camera's.
CONDITIONS = ("confidence", "n_leaves", "cut", "may_be_several")
_N_MASK_SHARES = 2
#: Number of values of `describe_mask`.
N_MASK_VALUES = len(CONDITIONS) + _N_MASK_SHARES


def describe_mask(leaf: Segmentation, condition: Condition) -> Singles:
    """Give the condition of a mask, and its shares: float32 (6,).

    The shares are of the mask in the picture, and of the blade in the mask.
    """
    values = [getattr(condition, name) for name in CONDITIONS]
    n_pixels = np.count_nonzero(leaf.mask)
    shares = [n_pixels / leaf.mask.size, np.count_nonzero(leaf.blade) / n_pixels]
    return np.array([*values, *shares], np.float32)
