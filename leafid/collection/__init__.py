"""What pictures there are and what is known of them, whatever layout they come in."""

from leafid.collection.collection import Collection, duplicate_names
from leafid.collection.hashing import content_hash, fingerprint
from leafid.collection.picture import AcquisitionType, Content, Picture, Place, Taxon
from leafid.collection.reading import READERS, read_and_warn, read_collection
from leafid.collection.splits import plant_folds

__all__ = [
    "READERS",
    "AcquisitionType",
    "Collection",
    "Content",
    "Picture",
    "Place",
    "Taxon",
    "content_hash",
    "duplicate_names",
    "fingerprint",
    "plant_folds",
    "read_and_warn",
    "read_collection",
]
