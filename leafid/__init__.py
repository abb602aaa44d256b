"""Names the tree a leaf came from, by classical computer vision, on an ordinary CPU."""

import lazy_loader

__version__ = "0.1.0"

# The public names, which the stub lists, are imported when first used, so that `import leafid` takes no time.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
