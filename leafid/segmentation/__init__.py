"""From a picture to the leaf: its mask, its blade without the petiole, a normalised crop."""
