"""What a leaf measures: pure functions from a picture and its leaf to numbers, and a registry of them by name."""

from leafid.descriptors.registry import FAMILIES, find_families, get_column_names, measure_families

__all__ = ["FAMILIES", "find_families", "get_column_names", "measure_families"]
