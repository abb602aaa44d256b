"""Local features: descriptors of small parts of a picture, encoded into one vector."""
