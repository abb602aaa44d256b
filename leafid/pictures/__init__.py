"""Pictures and their metadata, whatever layout they come in."""

from leafid.pictures.collection import Collection, find_name_clashes
from leafid.pictures.header import compute_fingerprint, hash_picture_file
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.reading import READERS, read_and_warn, read_collection
from leafid.pictures.splits import split_by_plant

__all__ = [
    "READERS",
    "AcquisitionType",
    "Collection",
    "Picture",
    "Taxon",
    "compute_fingerprint",
    "find_name_clashes",
    "hash_picture_file",
    "read_and_warn",
    "read_collection",
    "split_by_plant",
]
