"""A model: an identifier for each acquisition type, and the recogniser of types."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from leafid.errors import LeafidError
from leafid.learning.plant_fusion import DEFAULT_EXPONENT
from leafid.learning.rejection import REJECTED_SHARE
from leafid.learning.thresholds import Thresholds
from leafid.learning.type_recogniser import TypeRecogniser, TypeRecognition
from leafid.model.identifier import Identifier
from leafid.model.records import SpeciesRecord
from leafid.pictures.collection import group_by_species
from leafid.pictures.picture import AcquisitionType, Picture, Taxon

if TYPE_CHECKING:
    from leafid.model.answer import Answer


@dataclass(frozen=True)
class SpeciesInfo:
    """Taxonomy and vernacular names of a species, and its number of training pictures (of all types)."""

    taxon: Taxon
    vernacular_names: tuple[str, ...] = ()
    n_pictures: int = 0


@dataclass(frozen=True, eq=False)
class Model:
    """All that is needed to identify pictures.

    `leafid.model.training.train` makes one from pictures, `leafid.model.modelfile.read_model` reads
    one from a file.
    """

    identifiers: dict[AcquisitionType, Identifier]
    #: None in a model of a single type.
    recogniser: TypeRecogniser | None = None
    species: dict[str, SpeciesInfo] = field(default_factory=dict)
    #: Of the training pictures.
    fingerprint: str = ""
    #: `leafid.learning.held_out.held_out_scores` of the training, by type.
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Without a type that no species had two plants to learn from.
    thresholds: dict[AcquisitionType, Thresholds] = field(default_factory=dict)
    #: How pictures of a plant depend on each other (`leafid.learning.plant_fusion`), as far as that was learned.
    plant_exponents: dict[AcquisitionType, float] = field(default_factory=dict)
    #: Share of held-out pictures whose type the recogniser told correctly; None where this could not be measured.
    type_recognition: float | None = None
    #: By species.
    records: dict[str, SpeciesRecord] = field(default_factory=dict)

    def identify(
        self,
        pictures: Any,
        *,
        assume_type: AcquisitionType | str | None = None,
        jobs: int = 1,
        sessions: bool = False,
        reject_at: float = REJECTED_SHARE,
        back_off: bool = False,
    ) -> Iterator[Answer]:
        """Rank the model's species for pictures.

        Parameters
        ----------
        pictures : a picture, or an iterable of pictures
            The path of a picture or of a folder, the bytes of a picture file, an open file, a Pillow image, an array
            (as of `leafid.read_image`: BGR; also (H, W) and (H, W, 4), uint8 or float from 0 to 1), a `Picture`, or a
            `Collection`.
        assume_type : {"scan", "scan-like", "photo"}, optional
            Take all pictures for this type. By default the type is the one that a collection tells, or is recognised.
        jobs : int
            Number of worker processes; -1 uses every core.
        sessions : bool
            Let pictures of one author, day and place support one another, where a collection tells these.
        reject_at : float
            The share, from 0 to 1, of the leaves of known species that may be rejected as unknown or as no leaf.
        back_off : bool
            Name a genus, family or order where no species is probable enough. Its thresholds were learned without
            `sessions`.

        Yields
        ------
        Answer
            One for each picture, in their order, or that of the sessions. A picture that can't be read has no ranking;
            `Answer.problem` says why. One in memory is called ``pictures[3]`` by its position.

        Raises
        ------
        LeafidError
            When something is no picture (`InputError`), a single path leads nowhere, there is no such type, or the
            model was not trained for it, or can't back off.
        """
        from leafid.model.identify import identify
        from leafid.model.prediction import Options

        group_by = "session" if sessions else None
        options = Options(reject_at=reject_at, back_off=back_off, group_by=group_by)
        return identify(self, pictures, assume_type, jobs, options)

    def identify_plant(
        self,
        pictures: Any,
        *,
        assume_type: AcquisitionType | str | None = None,
        jobs: int = 1,
        reject_at: float = REJECTED_SHARE,
        back_off: bool = False,
    ) -> Answer:
        """Give one answer from several pictures of a plant, of any types; the parameters are those of `identify`.

        The answers to the single pictures are in `Answer.parts`.

        Raises
        ------
        LeafidError
            When there is no picture, or as `identify`.
        """
        from leafid.model.identify import identify_plant
        from leafid.model.prediction import Options

        options = Options(reject_at=reject_at, back_off=back_off)
        return identify_plant(self, pictures, assume_type, jobs, options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `leafid.load_model` reads.

        The file holds coefficients in half precision, which changes probabilities in the fifth digit.
        """
        from leafid.model.modelfile import write_model

        write_model(self, os.fspath(path))

    @property
    def type_recogniser(self) -> TypeRecognition:
        """Recognises the acquisition type of a picture, one that the model was trained for."""
        return TypeRecognition(tuple(self.identifiers), self.recogniser)

    @cached_property
    def common_names(self) -> dict[str, tuple[str, ...]]:
        """The vernacular names of each species."""
        return {name: info.vernacular_names for name, info in self.species.items()}

    def get_plant_exponent(self, acquisition_type: AcquisitionType) -> float:
        """Give the exponent of `leafid.learning.plant_fusion` for pictures of a type."""
        return self.plant_exponents.get(acquisition_type, DEFAULT_EXPONENT)

    def get_back_off_threshold(self, acquisition_type: AcquisitionType) -> float:
        """Give the probability from which a taxon is named in pictures of a type.

        Raises
        ------
        LeafidError
            When training could not learn it.
        """
        thresholds = self.thresholds.get(acquisition_type)
        classes = [name for name in self.identifier(acquisition_type).species if not self.species[name].taxon.genus]
        if classes:
            raise LeafidError(
                f"the model has no taxonomy to back off in: {len(classes)} of its labels are no species names, "
                f"{classes[0]!r} first; leave out --back-off"
            )
        if thresholds is None or thresholds.back_off is None:
            raise LeafidError(
                f"the model has no back-off threshold for pictures of type {acquisition_type}: its training set had no "
                "species with two plants, or its taxa form no tree; train it again on more plants"
            )
        return thresholds.back_off

    def identifier(self, acquisition_type: AcquisitionType) -> Identifier:
        """Give the identifier of a type, or raise a `LeafidError` when the model was not trained for it."""
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
    info = {}
    for species, own in group_by_species(pictures).items():
        names = dict.fromkeys(name for picture in own for name in picture.vernacular_names)
        most_complete = max(
            (p.taxon for p in own if p.taxon), key=lambda t: sum(v is not None for v in (t.family, t.order))
        )
        info[species] = SpeciesInfo(most_complete, tuple(names), len(own))
    return info
