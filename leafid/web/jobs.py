"""What workers do for requests: identify pictures, and describe the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leafid.identification.model import Model
    from leafid.web.uploads import Upload


def identify_pictures(model: Model, upload: Upload) -> list[dict[str, Any]]:
    """Identify pictures; returns the objects of ``predict --format json``."""
    return [next(model.identify(picture)).to_dict() for picture in upload.pictures]


def list_species(model: Model) -> list[dict[str, Any]]:
    """List the species of the model."""
    return [
        {
            "species": name,
            "common_names": list(info.vernacular_names),
            "genus": info.taxon.genus,
            "family": info.taxon.family,
            "order": info.taxon.order,
            "training_pictures": info.n_pictures,
        }
        for name, info in model.species.items()
    ]
