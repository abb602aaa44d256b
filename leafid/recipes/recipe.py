"""The recipe: how pictures of one acquisition type are described and classified."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from leafid.collection.picture import AcquisitionType, Picture
from leafid.errors import LeafidError

LONGEST_SIDE = 800
VIEWS = ("leaf", "upright", "picture")
ENCODERS = ("fisher", "vlad", "words")
CLASSIFIERS = ("ridge", "linear-svm", "lda", "logistic")
MAPS = ("none", "chi2")
TRUSTS = ("always", "segmentation")
CODEBOOK_PICTURES = 600
VARIANT_WEIGHT = 0.5
STAGED_WEIGHT = 1.0

# What only local descriptors heed.
_LOCAL_ONLY = (
    "codebook_types",
    "view",
    "size",
    "cell",
    "scales",
    "coverage",
    "most_coverage",
    "patches",
    "focus",
    "symmetry",
    "encoder",
    "modes",
    "components",
    "position",
)
# Keys that models and stores of earlier programs lack: at these values they are not written, so that both stay valid.
_LATER = {"most_coverage": 1.0}


@dataclass(frozen=True, slots=True)
class Expert:
    """One way to look at a leaf: a descriptor, its encoding, and a classifier of its own.

    Attributes
    ----------
    descriptor : str
        ``measures`` (the families named in `families`) or one of `leafid.descriptors.local.LOCAL_DESCRIPTORS`.
    families : tuple of str
        Descriptor families, for ``measures``.
    view : {"leaf", "upright", "picture"}
        What local features are read from: the leaf cut out on white, the same turned upright, the whole picture.
        ``inner-distance`` reads the outline of the leaf as it was found, and heeds no key but those of its encoder.
    size : int
        Longest side of that view, in pixels.
    cell : int
        Side of a SIFT cell in pixels; a patch is four cells wide.
    scales : int
        Number of patch sizes, each √2 times the one before.
    coverage, most_coverage : float
        The share of a patch that the leaf must cover, and may cover at the most, from 0 to 1: 0.95 and 1 keep the
        inside of the leaf, 0.1 and 0.95 its edge.
    patches : int
        At most so many patches of a dense grid, evenly taken from all of them; 0 takes all.
    focus : float
        Above 0, patches of a dense grid are taken the more rarely the further they lie from the middle of the view: as
        often as a Gaussian of this standard deviation says, in sides of the view.
    symmetry : {"none", "mirror", "turns"}
        Whether every second patch is read mirrored, so that a leaf and its mirror image are described alike; or every
        eighth in each of the ways that a square can be turned by quarters and mirrored.
    encoder : {"fisher", "vlad", "words"}
    modes : int
        Gaussians of the Fisher vector, or visual words of the others.
    components : int
        Principal components kept of a local descriptor.
    codebook_types : tuple of AcquisitionType
        What the encoder is learned from, where there are such pictures; by default all that are trained on. Recipes
        with the same expert and codebook share its vectors.
    position : float
        Weight of the place of a patch beside its look; 0 leaves it out.
    map : {"none", "chi2"}
        Explicit feature map in front of the classifier.
    classifier : {"ridge", "linear-svm", "lda", "logistic"}
    regularisation : float
        Strength, above 0: ridge's penalty, the inverse of the SVM's and logistic regression's C, LDA's shrinkage.
    directions : int
        Above 0, a softmax regression along so many principal directions of the training vectors is trained beside the
        classifier; held-out plants tell how much each of the two counts, and both become one linear classifier.
    softmax_regularisation : float
        Its penalty, above 0.
    species_balance, plant_balance : float
        A picture counts the less, the more pictures there are of its species, and of its plant: their numbers to the
        power of minus these, multiplied. 0 and 0: every picture counts the same.
    centre_types : bool
        Whether the mean of each acquisition type is taken off, where several types are trained on.
    trust : {"always", "segmentation"}
        Whether the opinion counts in full, or as far as the segmentation is sure of itself.
    """

    descriptor: str
    families: tuple[str, ...] = ()
    view: str = "leaf"
    size: int = 400
    cell: int = 4
    scales: int = 5
    coverage: float = 0.1
    most_coverage: float = 1.0
    patches: int = 0
    focus: float = 0.0
    symmetry: str = "none"
    encoder: str = "fisher"
    modes: int = 64
    components: int = 62
    codebook_types: tuple[AcquisitionType, ...] = ()
    position: float = 0.0
    map: str = "none"
    classifier: str = "ridge"
    regularisation: float = 0.1
    directions: int = 0
    softmax_regularisation: float = 0.01
    species_balance: float = 0.5
    plant_balance: float = 0.5
    centre_types: bool = False
    trust: str = "always"

    @property
    def is_local(self) -> bool:
        """Whether it needs an encoder."""
        return self.descriptor != "measures"

    def feature_key(self) -> str:
        """All that decides about the vector of a picture, but for what an encoder learned; JSON."""
        # What a codebook was learned from shows in the codebook.
        learner = {
            "codebook_types",
            "map",
            "classifier",
            "regularisation",
            "directions",
            "softmax_regularisation",
            "species_balance",
            "plant_balance",
            "centre_types",
            "trust",
        }
        unused = {"families"} if self.is_local else set(_LOCAL_ONLY)
        return json.dumps({k: v for k, v in self.to_dict().items() if k not in learner | unused}, sort_keys=True)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data without what came later and is as it always was."""
        return {key: value for key, value in asdict(self).items() if _LATER.get(key) != value}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How pictures of one acquisition type are described and classified.

    Attributes
    ----------
    type : AcquisitionType
        What it is for.
    experts : dict of str to Expert
        By name; their opinions are fused with weights learned on plants that they were not trained on.
    training_types : tuple of AcquisitionType
        What it learns from; its own type among them.
    summary : str
    longest_side : int
        Pictures are reduced to it, in pixels, before anything else.
    codebook_pictures : int
        How many pictures an encoder is learned from at the most.
    variants : int
        How many variants of each training picture are learned from as well (`leafid.features.jitter`).
    variant_weight : float
        What they count together, as a part of what the picture itself counts.
    staged : int
        How many staged photos of a scan or scan-like picture are learned from as well (`leafid.features.compositing`).
    staged_weight : float
        What they count together, likewise.
    """

    type: AcquisitionType
    experts: dict[str, Expert]
    training_types: tuple[AcquisitionType, ...]
    summary: str = ""
    longest_side: int = LONGEST_SIDE
    codebook_pictures: int = CODEBOOK_PICTURES
    variants: int = 0
    variant_weight: float = VARIANT_WEIGHT
    staged: int = 0
    staged_weight: float = STAGED_WEIGHT

    def shares_training_with(self, other: Recipe) -> bool:
        """Tell whether both learn the same from the same pictures, if to answer for another type."""
        return replace(self, type=other.type, summary=other.summary) == other

    def to_dict(self) -> dict[str, Any]:
        """Give plain data that `leafid.recipes.reader.parse_recipe` reads back."""
        return {
            "summary": self.summary,
            "training_types": [str(type_) for type_ in self.training_types],
            "longest_side": self.longest_side,
            "codebook_pictures": self.codebook_pictures,
            "variants": self.variants,
            "variant_weight": self.variant_weight,
            "staged": self.staged,
            "staged_weight": self.staged_weight,
            "experts": {
                name: {key: value for key, value in expert.to_dict().items() if value != ()}
                for name, expert in self.experts.items()
            },
        }


def group_by_training(recipes: Mapping[AcquisitionType, Recipe]) -> list[list[AcquisitionType]]:
    """Group the types whose recipes learn the same from the same pictures; groups and members in the order given."""
    groups: list[list[AcquisitionType]] = []
    for type_, recipe in recipes.items():
        own = next((group for group in groups if recipe.shares_training_with(recipes[group[0]])), None)
        if own is None:
            groups.append([type_])
        else:
            own.append(type_)
    return groups


def choose_types_to_train(pictures: Sequence[Picture], only: AcquisitionType | None = None) -> list[AcquisitionType]:
    """Choose the types to train for: those that the pictures have, or the one asked for.

    Raises
    ------
    LeafidError
        When no picture is of the type asked for.
    """
    present = {picture.type for picture in pictures}
    if only is not None and only not in present:
        found = ", ".join(sorted(str(type_) for type_ in present if type_ is not None)) or "none of a known type"
        raise LeafidError(f"expected pictures of type {only} to train on, found {found}")
    return [type_ for type_ in AcquisitionType if type_ in present and only in (None, type_)]
