"""The model file: a ZIP archive of a JSON manifest and plain NumPy arrays. Reading it never executes code."""

from leafid.model.modelfile.manifest import (
    FORMAT_VERSION,
    read_model,
    read_type_recognition,
    write_model,
)

__all__ = ["FORMAT_VERSION", "read_model", "read_type_recognition", "write_model"]
