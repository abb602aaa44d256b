"""A model: what it has learned of each type and species, and how it identifies."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, structs

from leafid.errors import LeafidError
from leafid.features.extractor import Features
from leafid.features.loader import FeatureLoader, open_loader
from leafid.files import StrPath
from leafid.grouping import group_by
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.groups import fuse_answers, pool_answers, split_into_batches
from leafid.model.identifier import TypeModel, stack
from leafid.model.modelfile import read_object, write_object
from leafid.model.recogniser import MIN_COLLECTION, TypeRecogniser, log_types
from leafid.model.shapes import check_shapes
from leafid.model.species import Species
from leafid.model.thresholds import back_off_answer
from leafid.notebook import NotebookMixin
from leafid.parallel.mapping import using_one_thread
from leafid.permissions import ALLOWED, ESTIMATORS
from leafid.pictures.conversion import list_pictures
from leafid.pictures.names import read_common_names
from leafid.pictures.picture import AcquisitionType, Picture

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class Model(NotebookMixin):
    """All that is needed to identify pictures.

    `leafid.train` makes one, and `leafid.load_model` reads one.
    """

    types: Annotated[Mapping[AcquisitionType, TypeModel], Meta(min_length=1)]
    #: By name, in alphabetical order.
    species: Mapping[str, Species]
    #: Recognises the acquisition type of a picture.
    recogniser: TypeRecogniser
    #: The fingerprint of the training pictures.
    fingerprint: str

    def __post_init__(self) -> None:
        names = set().union(*(m.identifier.species for m in self.types.values()))
        if unknown := names - self.species.keys():
            raise ValueError(
                "expected an entry of every species, found none of "
                f"{', '.join(sorted(unknown))}"
            )
        check_shapes(self.types, self.recogniser)

    def __repr__(self) -> str:
        types = [
            f"{type_} ({model.identifier.n_pictures} training pictures)"
            for type_, model in self.types.items()
        ]
        return f"<Model of {len(self.species)} species: {', '.join(types)}>"

    def __getitem__(self, acquisition_type: AcquisitionType | str) -> TypeModel:
        """Give what was learned of a type.

        A `LeafidError` is raised when the model was not trained for it.
        """
        try:
            return self.types[AcquisitionType.parse(acquisition_type)]
        except KeyError:
            known = ", ".join(map(str, self.types))
            raise LeafidError(
                f"the model was not trained for pictures of type {acquisition_type}, "
                f"only for {known}; "
                "say --assume-type with one of these, or use another model"
            ) from None

    @classmethod
    def read(cls, path: StrPath) -> "Model":
        """Read a model file.

        A `LeafidError` says if it is damaged, something else, or of another format
        version.
        """
        return read_object(path, cls)

    def save(self, path: StrPath) -> None:
        """Write the model to a file, which `leafid.load_model` reads.

        The same model gives the same bytes. The file holds coefficients in half
        precision, which changes probabilities in the fifth digit.
        """
        large = chain.from_iterable(
            model.identifier.list_large_arrays() for model in self.types.values()
        )
        write_object(path, self, large)
        if any(model.identifier.estimators for model in self.types.values()):
            _log.info(
                "%s holds a classifier of scikit-learn: to read it, set %s=%s in the "
                "environment",
                path,
                ALLOWED,
                ESTIMATORS,
            )

    def identify(
        self,
        pictures: Any,
        *,
        assume_type: AcquisitionType | str | None = None,
        jobs: int = 1,
        sessions: bool = False,
        reject_at: float = REJECTED_SHARE,
        back_off: bool = False,
        color: str = "bgr",
    ) -> Iterator[Answer]:
        """Rank the model's species for pictures.

        Parameters
        ----------
        pictures : a picture, or an iterable of pictures
            The path of a picture or of a folder, the bytes of a picture file, an open
            file, a Pillow image, an array (H, W, 3), (H, W, 4) or (H, W) of uint8 or
            float from 0 to 1, a `Picture`, or a `Collection`.
        assume_type : {"scan", "scan-like", "photo"}, optional
            Take all pictures for this type. By default a collection has the type, or it
            is recognised.
        jobs : int
            Number of worker processes; -1 uses every core. A script needs ``if __name__
            == "__main__":`` for several.
        sessions : bool
            Let pictures of one author, day and place support one another, where a
            collection has these.
        reject_at : float
            The share, from 0 to 1, of the leaves of known species that may be rejected
            as unknown or as no leaf.
        back_off : bool
            Name a genus, family or order where no species is probable enough. Its
            thresholds were learned without `sessions`.
        color : {"bgr", "rgb"}
            The order of channels in arrays: as in OpenCV and `leafid.read_image`, or as
            in Pillow and Matplotlib.

        Yields
        ------
        Answer
            One for each picture, in their order, or by session. A picture that can't be
            read has no ranking; `Answer.problem` says why. One in memory is called
            ``pictures[3]`` by its position.

        Raises
        ------
        LeafidError
            When something is no picture (`InputError`), a single path leads nowhere,
            there is no such type, or the model was not trained for it, or can't back
            off.
        """
        yield from self.predict(
            self._list_pictures(pictures, assume_type, color),
            FeatureLoader(jobs=jobs),
            reject_at,
            back_off=back_off,
            group_by="session" if sessions else None,
        )

    def identify_plant(
        self,
        pictures: Any,
        *,
        assume_type: AcquisitionType | str | None = None,
        jobs: int = 1,
        reject_at: float = REJECTED_SHARE,
        back_off: bool = False,
        color: str = "bgr",
    ) -> Answer:
        """Give one answer from several pictures of a plant, of any types.

        Parameters
        ----------
        pictures, assume_type, jobs, reject_at, back_off, color
            As for `identify`.

        Returns
        -------
        Answer
            `Answer.parts` has the answers to the single pictures.

        Raises
        ------
        LeafidError
            When there is no picture, or as `identify`.
        """
        records = self._list_pictures(pictures, assume_type, color)
        if not records:
            raise LeafidError("expected at least one picture of the plant, found none")
        loader = FeatureLoader(jobs=jobs)
        answers = self.predict(
            records, loader, reject_at, back_off=back_off, group_by="all"
        )
        return next(answers)

    def embed(
        self,
        pictures: Any,
        *,
        assume_type: AcquisitionType | str | None = None,
        jobs: int = 1,
        cache: StrPath | bool = True,
        color: str = "bgr",
    ) -> np.ndarray:
        """Compute the features that the model classifies, for other classifiers.

        Parameters
        ----------
        pictures, assume_type, jobs, color
            As for `identify`.
        cache
            As for `leafid.train`.

        Returns
        -------
        float32 (n_pictures, n_values)
            The vectors of all experts of the type, in their order. Encoded patches have
            length 1, and measures have several units, so that columns want scaling.
            Where a picture shows no leaf, they describe all of it.

        Raises
        ------
        LeafidError
            When a picture can't be read, or they are of several types, which have
            different features.
        """
        records = self._list_pictures(pictures, assume_type, color)
        with open_loader(jobs, cache) as loader:
            recognised = self.recogniser.recognise_pictures(records, loader)
            typed_records = [picture for picture, _ in recognised.values()]
            features: list[Features] = []
            types = {picture.require_type() for picture in typed_records}
            if len(types) == 1:
                [identifier] = [self[type_].identifier for type_ in types]
                stream = loader.stream(typed_records, identifier.extractor)
                features = [leaf for leaf in stream if leaf]
        for problem in loader.unreadable.values():
            raise LeafidError(problem)
        if not features:
            kinds = ", ".join(sorted(types)) or "no picture"
            raise LeafidError(
                "expected pictures of one acquisition type, "
                f"found {kinds}; say assume_type"
            )
        vectors = [stack(features, name) for name in identifier.recipe.experts]
        return np.hstack(vectors).astype(np.float32)

    def predict(
        self,
        pictures: Sequence[Picture],
        loader: FeatureLoader,
        reject_at: float = REJECTED_SHARE,
        *,
        back_off: bool = False,
        group_by: str | None = None,
    ) -> Iterator[Answer]:
        """Yield answers in the order of pictures, or of groups with `group_by`.

        `group_by` is one of `leafid.model.groups.GROUPINGS`: one answer is given from
        all pictures of a group; with "session", one to each picture, which the others
        of its session support.

        The model recognises the type of pictures whose type is unknown. Pictures that
        can't be read are noted in the loader's `unreadable`. A `LeafidError` is raised
        when the model was not trained for a picture's type, or can't back off. Memory
        doesn't grow with the number of pictures, which are identified in batches.
        """
        for picture in pictures:
            if picture.type is not None:
                self[picture.type]  # raises before any work is done
        thresholds = {type_: model.thresholds for type_, model in self.types.items()}
        recognised: Counter[AcquisitionType] = Counter()
        n_begun = 0
        for groups in split_into_batches(pictures, group_by):
            batch = list(chain(*groups))
            n_begun += len(batch)
            step = loader.with_step(f"{n_begun}/{len(pictures)}")
            answers = self._answer_batch(batch, step, reject_at)
            recognised.update(
                a.type for a in answers if a.type and a.type_probability is not None
            )
            stream = iter(answers)
            parts = [list(islice(stream, len(group))) for group in groups]
            if group_by == "session":
                answers = [*chain(*map(pool_answers, parts))]
            elif group_by:
                answers = [fuse_answers(self.types, part, reject_at) for part in parts]
            if back_off:
                answers = [back_off_answer(answer, thresholds) for answer in answers]
            yield from answers
        log_types(recognised, MIN_COLLECTION)

    @cached_property
    def common_names(self) -> dict[str, tuple[str, ...]]:
        """The vernacular names of each species."""
        return {
            name: species.vernacular_names for name, species in self.species.items()
        }

    def in_language(self, language: str | None) -> "Model":
        """Return the model with the common names in a language first.

        Parameters
        ----------
        language : {"en", "fr", "de"} or None
            None keeps the names of the model.

        Returns
        -------
        Model
        """
        if language is None:
            return self
        table = read_common_names()
        species = {}
        for name, record in self.species.items():
            first = table.get(name, {}).get(language, "")
            names = filter(None, dict.fromkeys([first, *record.vernacular_names]))
            species[name] = structs.replace(record, vernacular_names=tuple(names))
        return replace(self, species=species)

    def _list_pictures(
        self, pictures: Any, assume_type: AcquisitionType | str | None, color: str
    ) -> list[Picture]:
        records = list_pictures(pictures, color)
        if not assume_type:
            return records
        type_ = self[assume_type].identifier.type
        return [replace(picture, type=type_) for picture in records]

    # A product of one row takes less time than to start threads for it.
    @using_one_thread()
    def _answer_batch(
        self, pictures: Sequence[Picture], loader: FeatureLoader, reject_at: float
    ) -> list[Answer]:
        typed = self.recogniser.recognise_pictures(pictures, loader.with_step("types"))
        answers: dict[int, Answer] = {}
        taxa = {name: species.taxon for name, species in self.species.items()}
        by_type = group_by(typed, lambda index: typed[index][0].require_type())
        for type_, indices in by_type.items():
            model = self[type_]
            table = loader.stream(
                [typed[index][0] for index in indices], model.identifier.extractor
            )
            for index, features in zip(indices, table, strict=True):
                if features is None:
                    continue
                picture, probability = typed[index]
                if features.confidence == 0:
                    _log.warning(
                        "%s: no leaf found in it; "
                        "every species is ranked as equally likely",
                        picture.file,
                    )
                answer = model.answer(picture, features, reject_at, self.common_names)
                answers[index] = replace(
                    answer, type_probability=probability, taxa=taxa
                )
        return [
            answers.get(index)
            or Answer(picture, [], 0.0, problem=loader.unreadable[picture.file])
            for index, picture in enumerate(pictures)
        ]
