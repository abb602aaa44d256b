"""The recipe: how pictures of one acquisition type are described and classified."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from leafid.descriptors.encoding import ENCODERS, Encoder
from leafid.descriptors.local import SYMMETRIES, Grid
from leafid.descriptors.registry import LOCAL_DESCRIPTORS
from leafid.errors import LeafidError
from leafid.features.recipe_keys import acquisition_types, choice, families, flag, list_keys, number, text
from leafid.pictures.picture import AcquisitionType, Picture

LONGEST_SIDE = 800
MEASURES = "measures"


@dataclass(frozen=True, slots=True)
class Measures:
    """Global descriptors of the leaf, one after the other in a vector."""

    descriptor: ClassVar[str] = MEASURES
    needs_leaf: ClassVar[bool] = True
    families: tuple[str, ...] = families("for `measures`: a list of descriptor families (`leafid describe --list`)")

    def make_feature_key(self) -> str:
        """Encode all settings that decide a picture's vector; JSON."""
        return json.dumps(_read_keys(self))


@dataclass(frozen=True, slots=True)
class LocalPatches:
    """Local descriptors of patches, encoded as one vector."""

    descriptor: str = choice(
        (MEASURES, *LOCAL_DESCRIPTORS),
        "`measures`, or a local descriptor: `dense-sift` (of grey), `dense-chroma-sift` (of the channels a and b of "
        "Lab), `edge-sift` (patches on edges, turned to them; ignores `symmetry` and both coverages), "
        "`outline-sift` (patches along the leaf's outline, turned to it; ignores `focus`, `symmetry` and both "
        "coverages, and needs a view of the leaf) or `detected-sift` (ignores the keys from `cell` to `symmetry`)",
    )
    # What is read.
    view: str = choice(
        ("leaf", "upright", "picture"),
        "what patches are read from: `leaf` (cut out, on white), `upright` (the same, turned upright) or `picture`",
        "leaf",
    )
    size: int = number(400, 32, 4096, "longest side of that view, in pixels")
    # The grid of patches.
    cell: int = number(4, 2, 64, "side of a SIFT cell, in pixels; a patch is four cells wide")
    scales: int = number(5, 1, 16, "number of patch sizes, each √2 times the previous one")
    coverage: float = number(
        0.1, 0, 1, 'minimum share of a patch that the leaf covers; no effect with `view = "picture"`'
    )
    max_coverage: float = number(
        1.0, 0, 1, "maximum share of a patch that the leaf covers; below 1, patches inside the leaf are left out"
    )
    max_patches: int = number(
        0, 0, 10**6, "maximum number of patches of a dense grid, taken evenly from all of them; 0 takes all"
    )
    focus: float = number(
        0.0,
        0.01,
        100,
        "above 0, patches are drawn with the density of a Gaussian around the middle of the view; this is its standard "
        "deviation, in sides of the view; 0 draws them evenly",
        zero_allowed=True,
    )
    symmetry: str = choice(
        tuple(SYMMETRIES),
        "`mirror` reads every second patch mirrored; `turns` reads an eighth of the patches in each of the eight "
        "symmetries of a square; `none`",
        "none",
    )
    # The encoder.
    encoder: str = choice(
        tuple(ENCODERS),
        "`fisher` (Fisher vector) or `words` (histogram of visual words)",
        "fisher",
    )
    modes: int = number(64, 1, 65536, "Gaussians of the Fisher vector, or visual words")
    components: int = number(62, 1, 128, "principal components kept of a local descriptor")
    codebook_types: tuple[AcquisitionType, ...] = acquisition_types(
        "acquisition types that the encoder is learned from, where there are such pictures; recipes with equal "
        "codebooks share feature vectors",
        "`training_types`",
        (),
    )
    position: float = number(0.0, 0, 1000, "weight of a patch's position and size beside its descriptor")

    @property
    def needs_leaf(self) -> bool:
        """Whether the leaf must be found in the picture."""
        return self.view != "picture"

    @property
    def grid(self) -> Grid:
        """Which patches are read."""
        return Grid(
            self.cell, self.scales, self.coverage, self.max_coverage, self.max_patches, self.focus, self.symmetry
        )

    def make_encoder(self, seed: int) -> Encoder:
        """Make an encoder that has learned nothing yet."""
        return ENCODERS[self.encoder](self.modes, self.components, self.position, seed)

    def make_feature_key(self) -> str:
        """Encode all settings that decide a picture's vector, except what an encoder learned; JSON."""
        # The types that the codebook was learned from are left out: the hash covers the codebook itself.
        return json.dumps(_read_keys(self) | {"codebook_types": None}, sort_keys=True)


@dataclass(frozen=True, slots=True)
class ClassifierSettings:
    """How species are learned from an expert's vectors."""

    feature_map: str = choice(
        ("none", "chi2"), "feature map before the classifier: `none` or `chi2`", "none", name="map"
    )
    kind: str = choice(
        ("ridge", "linear-svm", "lda", "logistic", "nearest-mean"),
        "`ridge`, `linear-svm`, `lda`, `logistic` or `nearest-mean` (of the pictures of a species)",
        "ridge",
        name="classifier",
    )
    regularisation: float = number(
        0.1, 1e-12, 1e12, "penalty of ridge, inverse of C of SVM and logistic regression, shrinkage of LDA"
    )
    softmax_components: int = number(
        0,
        0,
        4096,
        "above 0, softmax regression on this many principal components of the training vectors is trained beside the "
        "classifier; held-out plants weigh the two, and both become one linear classifier",
    )
    softmax_regularisation: float = number(0.01, 1e-12, 1e12, "penalty of the softmax regression")
    species_balance: float = number(
        0.5,
        0,
        4,
        "a picture's weight is the number of pictures of its species to the power of minus this; 0: all weigh the same",
    )
    plant_balance: float = number(
        0.5, 0, 4, "likewise by the number of pictures of its plant (those of one acquisition type)"
    )
    centre_types: bool = flag(False, "subtract the mean of each acquisition type, where several are trained on")


@dataclass(frozen=True, slots=True)
class Expert:
    """A feature vector of a picture and the classifier that learns from it; all its keys are in one table of TOML."""

    features: Measures | LocalPatches
    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)
    trust: str = choice(
        ("always", "segmentation"),
        "`always`, or `segmentation`: the expert's scores are weighted by the confidence of the segmentation",
        "always",
    )

    @property
    def is_local(self) -> bool:
        """Whether it needs an encoder."""
        return isinstance(self.features, LocalPatches)

    @property
    def needs_leaf(self) -> bool:
        """Whether the leaf must be found in the picture for it."""
        return self.features.needs_leaf or self.trust == "segmentation"

    @property
    def families(self) -> tuple[str, ...]:
        """The descriptor families that it measures; none of an expert on local patches."""
        return () if isinstance(self.features, LocalPatches) else self.features.families

    @classmethod
    def from_keys(cls, **values: Any) -> Expert:
        """Make an expert from values by recipe key, unchecked; keys that its descriptor doesn't have are ignored."""
        kind = Measures if values.get("descriptor") == MEASURES else LocalPatches
        parts = [
            {entry.name: values[key] for key, entry in list_keys(part).items() if key in values}
            for part in (kind, ClassifierSettings, cls)
        ]
        return cls(kind(**parts[0]), ClassifierSettings(**parts[1]), **parts[2])

    def to_keys(self) -> dict[str, Any]:
        """Return the values by recipe key, as `from_keys` takes them."""
        return {"descriptor": self.features.descriptor, **_read_keys(self.features), **_read_keys(self.classifier)} | (
            _read_keys(self)
        )

    def with_keys(self, **values: Any) -> Expert:
        """Return the same expert with some values by recipe key changed."""
        return self.from_keys(**{**self.to_keys(), **values})


#: What an expert's table is made of, in the order of docs/formats.md.
EXPERT_PARTS = (LocalPatches, Measures, ClassifierSettings, Expert)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How pictures of one acquisition type are described and classified.

    `experts` has each by its name; their scores are fused with weights learned on held-out plants.
    """

    type: AcquisitionType
    experts: dict[str, Expert]
    training_types: tuple[AcquisitionType, ...] = acquisition_types(
        "acquisition types to learn from; its own type must be among them", "its own"
    )
    summary: str = text("what the recipe is, in a sentence")
    longest_side: int = number(LONGEST_SIDE, 32, 4096, "pictures are first reduced to this longest side, in pixels")
    codebooks: str = choice(
        ("own", "bundled"),
        "`own` (learned from the training pictures) or `bundled` (those of the bundled model's experts of the same "
        "name and type, whose `descriptor`, `encoder`, `modes`, `components` and `position` have to be the same), "
        "which is quick",
        "own",
    )
    codebook_pictures: int = number(600, 1, None, "maximum number of pictures that an encoder is learned from")
    jittered: int = number(
        0,
        0,
        100,
        "number of jittered copies of each training picture to learn from as well, alternately tilted and in other "
        "light; none with more than 20,000 training pictures",
    )
    jittered_weight: float = number(0.5, 0.01, 100, "weight of these copies together, relative to the picture itself")
    composited: int = number(
        0,
        0,
        100,
        "number of composited photos to learn from as well of each scan and scan-like picture (of at most eight of a "
        "plant and type, which then stand for all): the leaf among copies of itself as on the tree, alternately a "
        "branch and a nearly single leaf; none with more than 20,000 training pictures",
    )
    composited_weight: float = number(1.0, 0.01, 100, "weight of these photos together, relative to the picture itself")

    def shares_training_with(self, other: Recipe) -> bool:
        """Tell whether both learn the same from the same pictures, though for different types."""
        return replace(self, type=other.type, summary=other.summary) == other

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `leafid.features.recipe_reader.parse_recipe` reads back."""
        return {**_read_keys(self), "experts": {name: expert.to_keys() for name, expert in self.experts.items()}}


def _read_keys(part: Measures | LocalPatches | ClassifierSettings | Expert | Recipe) -> dict[str, Any]:
    return {name: getattr(part, entry.name) for name, entry in list_keys(type(part)).items()}


def group_by_training(recipes: Mapping[AcquisitionType, Recipe]) -> list[list[AcquisitionType]]:
    """Group the types whose recipes learn the same from the same pictures; groups and members in the order given."""
    groups: list[list[AcquisitionType]] = []
    for type_, recipe in recipes.items():
        group = next((group for group in groups if recipe.shares_training_with(recipes[group[0]])), None)
        if group is None:
            groups.append([type_])
        else:
            group.append(type_)
    return groups


def choose_types_to_train(pictures: Sequence[Picture], only: AcquisitionType | None = None) -> list[AcquisitionType]:
    """Choose the types to train for: those that the pictures have, or `only` one, which must be among them."""
    present = {picture.type for picture in pictures}
    if only is not None and only not in present:
        found = ", ".join(sorted(str(type_) for type_ in present if type_ is not None)) or "none of a known type"
        raise LeafidError(f"expected pictures of type {only} to train on, found {found}")
    return [type_ for type_ in AcquisitionType if type_ in present and only in (None, type_)]
