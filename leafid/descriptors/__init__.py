"""Pure functions from a picture and its leaf to numbers, registered by name."""
