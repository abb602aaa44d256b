"""From a picture to the leaf: its mask, its blade without the petiole, a normalised crop."""

from leafid.segmentation.crop import crop_leaf, estimate_upright_angle
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import draw_overlay, segment

__all__ = ["Segmentation", "crop_leaf", "draw_overlay", "estimate_upright_angle", "segment"]
