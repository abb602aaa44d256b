"""From a picture to the leaf: its mask, its blade without the petiole, a normalised crop."""

from leafid.segmentation.crop import normalised_crop, upright_angle
from leafid.segmentation.guess import guess_type
from leafid.segmentation.overlay import draw_overlay
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment

__all__ = ["Segmentation", "draw_overlay", "guess_type", "normalised_crop", "segment", "upright_angle"]
