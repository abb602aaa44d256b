"""Local features: many descriptors of small parts of one picture, to be encoded into one vector."""
