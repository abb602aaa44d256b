"""Names the tree a leaf came from, by classical computer vision, on an ordinary CPU."""

__version__ = "0.1.0"
