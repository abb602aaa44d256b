"""What pictures there are and what is known of them, whatever layout they come in."""

from leafid.collection.collection import Collection, duplicate_names
from leafid.collection.picture import AcquisitionType, Content, Picture, Place, Taxon
from leafid.collection.reading import READERS, read_collection

__all__ = [
    "READERS",
    "AcquisitionType",
    "Collection",
    "Content",
    "Picture",
    "Place",
    "Taxon",
    "duplicate_names",
    "read_collection",
]
