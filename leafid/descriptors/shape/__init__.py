"""What the outline of a leaf measures, of its blade or with the petiole."""
