"""From a picture to the leaf: its mask, its blade without petiole, and a crop."""
