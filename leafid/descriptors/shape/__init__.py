"""Families of the outline of a leaf, of its blade or with the petiole."""
