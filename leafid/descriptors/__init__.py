"""What a leaf measures: pure functions from a picture and its leaf to numbers, and a registry of them by name."""
