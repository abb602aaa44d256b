"""A model: an identifier for each acquisition type, and the recogniser of types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from leafid.classifiers.context import Context
from leafid.classifiers.thresholds import Thresholds
from leafid.classifiers.type_recogniser import TypeRecogniser
from leafid.collection.picture import AcquisitionType, Picture, Taxon
from leafid.errors import LeafidError
from leafid.identification.identifier import Identifier
from leafid.identification.type_recognition import TypeRecognition


@dataclass(frozen=True)
class SpeciesInfo:
    """Taxonomy and vernacular names of a species, and its number of training pictures (of all types)."""

    taxon: Taxon
    vernacular_names: tuple[str, ...] = ()
    n_pictures: int = 0


@dataclass(frozen=True, eq=False)
class Model:
    """All that is needed to identify pictures.

    `leafid.identification.training.train` makes one from pictures, `leafid.identification.modelfile.read_model` reads
    one from a file.

    Attributes
    ----------
    identifiers : dict of AcquisitionType to Identifier
    recogniser : TypeRecogniser or None
        None in a model of a single type.
    species : dict of str to SpeciesInfo
    fingerprint : str
        Of the training pictures.
    scores : dict of str to dict
        `leafid.classifiers.held_out.held_out_scores` of the training, by type.
    thresholds : dict of AcquisitionType to Thresholds
        Without a type that no species had two plants to learn from.
    contexts : dict of AcquisitionType to Context
        Priors of place and day; empty in files of older programs.
    type_recognition : float or None
        Share of held-out pictures whose type the recogniser told correctly; None where this could not be measured.
    """

    identifiers: dict[AcquisitionType, Identifier]
    recogniser: TypeRecogniser | None = None
    species: dict[str, SpeciesInfo] = field(default_factory=dict)
    fingerprint: str = ""
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    thresholds: dict[AcquisitionType, Thresholds] = field(default_factory=dict)
    contexts: dict[AcquisitionType, Context] = field(default_factory=dict)
    type_recognition: float | None = None

    def recognise_type(self, features: np.ndarray) -> AcquisitionType:
        """Recognise the acquisition type of a picture, one that the model was trained for, by its `type_features`."""
        return TypeRecognition(tuple(self.identifiers), self.recogniser).recognise_features(features)

    def identifier(self, acquisition_type: AcquisitionType) -> Identifier:
        """Give the identifier of a type.

        Raises
        ------
        LeafidError
            When the model was not trained for it.
        """
        try:
            return self.identifiers[acquisition_type]
        except KeyError:
            known = ", ".join(map(str, self.identifiers))
            raise LeafidError(
                f"the model was not trained for pictures of type {acquisition_type}, only for {known}; "
                "say --assume-type with one of these, or use another model"
            ) from None


def collect_species_info(pictures: Sequence[Picture]) -> dict[str, SpeciesInfo]:
    """Collect the taxon, the vernacular names and the number of pictures of each species."""
    gathered: dict[str, list[Picture]] = {}
    for picture in pictures:
        if picture.species is not None:
            gathered.setdefault(picture.species, []).append(picture)
    info = {}
    for species in sorted(gathered):
        own = gathered[species]
        names = dict.fromkeys(name for picture in own for name in picture.vernacular_names)
        most_complete = max(
            (p.taxon for p in own if p.taxon), key=lambda t: sum(v is not None for v in (t.family, t.order))
        )
        info[species] = SpeciesInfo(most_complete, tuple(names), len(own))
    return info
