"""A model: the identifiers of the acquisition types that it was trained for, and what tells the types apart."""

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
    """What is known of a species beside its name.

    Attributes
    ----------
    taxon : Taxon
    vernacular_names : tuple of str
    n_pictures : int
        Training pictures of all types.
    """

    taxon: Taxon
    vernacular_names: tuple[str, ...] = ()
    n_pictures: int = 0


@dataclass
class Model:
    """Everything that naming species needs.

    Attributes
    ----------
    identifiers : dict of AcquisitionType to Identifier
    recogniser : TypeRecogniser or None
        None where it was trained on a single type.
    species : dict of str to SpeciesInfo
    fingerprint : str
        Of the training pictures.
    scores : dict of str to dict
        By type: scores on held-out plants at training time, see `leafid.identification.held_out_scores`.
    thresholds : dict of AcquisitionType to Thresholds
        How sure each identifier must be; a type is missing where its training had nothing to learn that from.
    contexts : dict of AcquisitionType to Context
        What place and day say beside what each identifier sees; empty in a model of an older program.
    type_recognition : float or None
        How often the type of pictures of held-out plants is recognised; None where it could not be told.
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
        """Recognise which of the types that it was trained for a picture is of, by its `type_features`."""
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


def known_species(pictures: Sequence[Picture]) -> dict[str, SpeciesInfo]:
    """Gather what labelled pictures say of their species: taxon, common names, number of pictures."""
    gathered: dict[str, list[Picture]] = {}
    for picture in pictures:
        if picture.species is not None:
            gathered.setdefault(picture.species, []).append(picture)
    known = {}
    for species in sorted(gathered):
        own = gathered[species]
        names = dict.fromkeys(name for picture in own for name in picture.vernacular_names)
        fullest = max((p.taxon for p in own if p.taxon), key=lambda t: sum(v is not None for v in (t.family, t.order)))
        known[species] = SpeciesInfo(fullest, tuple(names), len(own))
    return known
