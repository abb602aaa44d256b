"""Names the tree a leaf came from, by classical computer vision, on an ordinary CPU."""

import lazy_loader

from leafid.errors import naming_what_to_install

__version__ = "0.1.0"

# The public names, which the stub lists, are imported when first used, so that `import leafid` takes no time.
_import_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = naming_what_to_install()(_import_name)
