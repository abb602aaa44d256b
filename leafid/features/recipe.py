"""The recipe: how pictures of some acquisition types are described and classified.

The comments of keys are Markdown: docs/recipe_keys.py makes the tables of
docs/formats.md from them.
"""

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from leafid.descriptors.encoding import Encoder
from leafid.descriptors.imported import check_code_allowed, find_encoder, hash_module
from leafid.descriptors.local.grid import Grid
from leafid.descriptors.registry import find_families
from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.schema import convert, parse_toml
from leafid.textfiles import read_text

_log = logging.getLogger(__name__)

LONGEST_SIDE = 800
_GRID_KEYS = tuple(field.name for field in fields(Grid))
_SHIPPED = Path(__file__).parent / "recipes"

_Types = tuple[AcquisitionType, ...]
_Side = Annotated[int, Meta(ge=32, le=4096)]
_Count = Annotated[int, Meta(ge=0, le=100)]


class Expert(ClassifierSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A feature vector of a picture and the classifier that learns from it.

    The vector has measures of the leaf, one family after the other, or encodes local
    descriptors of patches.
    """

    #: `measures`, or a local descriptor: `dense-sift` (of grey), `dense-chroma-sift`
    #: (of the channels a and b of Lab), `edge-sift` (patches on edges, turned to them;
    #: ignores `symmetry` and `coverage`), `outline-sift` (patches along the leaf's
    #: outline, turned to it; ignores `focus`, `symmetry` and `coverage`, and needs a
    #: view of the leaf) or `detected-sift` (ignores the keys from `scales` to
    #: `symmetry`)
    descriptor: Literal[
        "measures",
        "dense-sift",
        "dense-chroma-sift",
        "edge-sift",
        "outline-sift",
        "detected-sift",
    ]
    #: for `measures`: a list of descriptor families (`leafid describe --list`), or of
    #: other functions, as `package.module:function`
    families: tuple[str, ...] = ()
    #: what patches are read from: `leaf` (cut out, on white), `upright` (the same,
    #: turned upright) or `picture`
    view: Literal["leaf", "upright", "picture"] = "leaf"
    #: longest side of that view, in pixels
    size: _Side = 400
    #: number of patch sizes, each √2 times the previous one; the smallest is 16 pixels
    #: wide
    scales: Annotated[int, Meta(ge=1, le=16)] = 5
    #: minimum share of a patch that the leaf covers; no effect with `view = "picture"`
    coverage: Annotated[float, Meta(ge=0, le=1)] = 0.1
    #: maximum number of patches of a dense grid, taken evenly from all of them; 0 takes
    #: all
    max_patches: Annotated[int, Meta(ge=0, le=10**6)] = 0
    #: above 0, patches are drawn with the density of a Gaussian around the middle of
    #: the view; this is its standard deviation, in sides of the view; 0 draws them
    #: evenly
    focus: Annotated[float, Meta(ge=0, le=100)] = 0.0
    #: `turns` reads an eighth of the patches in each of the eight symmetries of a
    #: square; `none`
    symmetry: Literal["none", "turns"] = "none"
    #: `fisher` (Fisher vector), `words` (histogram of visual words), or another
    #: encoder, as `package.module:Class`
    encoder: str = "fisher"
    #: Gaussians of the Fisher vector, or number of visual words
    modes: Annotated[int, Meta(ge=1, le=65536)] = 64
    #: principal components kept of a local descriptor
    components: Annotated[int, Meta(ge=1, le=128)] = 62
    #: acquisition types that the encoder is learned from, where there are such
    #: pictures; recipes with equal codebooks share feature vectors; by default,
    #: `training_types`
    codebook_types: _Types = ()
    #: weight of a patch's position and size beside its descriptor
    position: Annotated[float, Meta(ge=0, le=1000)] = 0.0
    #: `always`, or `segmentation`: the expert's scores are weighted by the confidence
    #: of the segmentation
    trust: Literal["always", "segmentation"] = "always"

    def __post_init__(self) -> None:
        if self.is_local and self.families:
            raise ValueError(
                f"families: expected none for {self.descriptor!r}, found "
                f"{', '.join(self.families)}; remove them, or use the descriptor "
                "'measures'"
            )
        key = "encoder"
        try:
            check_code_allowed([self.encoder])
            find_encoder(self.encoder)
            if not self.is_local:
                key = "families"
                check_code_allowed(self.families)
                find_families(self.families)
        except LeafidError as error:
            raise ValueError(f"{key}: {error}") from None
        if self.descriptor == "outline-sift" and self.view == "picture":
            raise ValueError(
                "view: 'outline-sift' needs the leaf's outline; expected 'leaf' or "
                "'upright'"
            )

    @property
    def is_local(self) -> bool:
        """Whether it is on local descriptors, and needs an encoder."""
        return self.descriptor != "measures"

    @property
    def grid(self) -> Grid:
        """Which patches are read."""
        return Grid(**{key: getattr(self, key) for key in _GRID_KEYS})

    def make_encoder(self, seed: int) -> Encoder:
        """Make an encoder that has learned nothing yet."""
        return find_encoder(self.encoder)(
            self.modes, self.components, self.position, seed
        )

    def make_feature_key(self) -> str:
        """Encode the settings that decide a picture's vector as JSON."""
        if not self.is_local:
            settings: dict[str, Any] = {"families": self.families}
            families = find_families(self.families)
            if versions := [family.version for family in families if family.version]:
                settings["versions"] = versions
            return json.dumps(settings)
        # The types that the codebook was learned from are left out: the hash covers the
        # codebook itself.
        names = (
            "descriptor",
            "view",
            "size",
            *_GRID_KEYS,
            "encoder",
            "modes",
            "components",
            "position",
        )
        settings = {name: getattr(self, name) for name in names}
        if ":" in self.encoder:
            settings["version"] = hash_module(self.encoder)
        return json.dumps(settings, sort_keys=True)


class Recipe(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How pictures of some acquisition types are described and classified.

    `experts` has each by its name; their scores are fused with weights learned on
    held-out plants.
    """

    #: acquisition types that it serves, trained together
    types: Annotated[_Types, Meta(min_length=1)]
    experts: Annotated[
        dict[Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]+\Z")], Expert],
        Meta(min_length=1),
    ]
    #: acquisition types to learn from, `types` among them; by default, `types`
    training_types: _Types = ()
    #: what the recipe is, in a sentence
    summary: str = ""
    #: pictures are first reduced to this longest side, in pixels
    longest_side: _Side = LONGEST_SIDE
    #: `own` (learned from the training pictures) or `bundled`, which is quick: the
    #: codebooks of the bundled model's experts of the same name and type, with the
    #: same `descriptor`, `encoder`, `modes`, `components` and `position`
    codebooks: Literal["own", "bundled"] = "own"
    #: number of jittered copies of each training picture of `types`: tilted and in
    #: other light, a third of them poor pictures; no effect with more than 20,000
    #: training pictures
    jittered: _Count = 0
    #: weight of all jittered copies of a picture for the classifiers, relative to the
    #: picture
    jittered_weight: Annotated[float, Meta(ge=0, le=100)] = 0.5
    #: number of photos that are composited from each scan and scan-like picture: the
    #: leaf among copies of itself as on a tree, alternately a branch and a nearly
    #: single leaf. Together they weigh as much as the picture. At most eight pictures
    #: of a plant and type are used; further ones of a type outside `types` are left out
    #: of the training. No effect with more than 20,000 training pictures
    composited: _Count = 0

    def __post_init__(self) -> None:
        if missing := set(self.types) - set(self.training_types):
            types = list(map(str, self.training_types))
            raise ValueError(
                f"training_types: expected {', '.join(sorted(missing))} among them, "
                f"found {types}"
            )


def group_by_training(
    recipes: Mapping[AcquisitionType, Recipe],
) -> list[list[AcquisitionType]]:
    """Group the types that have the same recipe.

    Groups and members in the order given.
    """
    return list(group_by(recipes, lambda type_: repr(recipes[type_])).values())


def choose_types_to_train(
    recipes: Sequence[str],
    pictures: Sequence[Picture],
    only: AcquisitionType | None = None,
) -> list[AcquisitionType]:
    """Choose the types of pictures that all of some recipes serve, or `only` one.

    A warning counts the pictures of each other type. Where no type is served, all are
    chosen, so that loading a recipe says why it doesn't serve one.
    """
    counts = Counter(picture.type for picture in pictures)
    if only is not None:
        if only in counts:
            return [only]
        names = ", ".join(sorted(map(str, filter(None, counts))))
        raise LeafidError(
            f"expected pictures of type {only} to train on, found "
            f"{names or 'none of a known type'}"
        )
    types = [type_ for type_ in AcquisitionType if type_ in counts]
    for name in dict.fromkeys(recipes):
        files = read_recipes(name)
        served = [type_ for recipe in files for type_ in recipe.types]
        learned = {type_ for recipe in files for type_ in recipe.training_types}
        if not {*served} & {*types}:
            break
        for type_ in sorted({*types}.difference(served)):
            types.remove(type_)
            consequence = "are left out"
            if type_ in learned:
                consequence = "are only learned from"
            _log.warning(
                "recipe %s serves %s only: %d of %d pictures are of type %s and %s",
                *(name, ", ".join(served), counts[type_], len(pictures)),
                *(type_, consequence),
            )
    return types


def list_recipes() -> list[str]:
    """List the names of the shipped recipes."""
    return sorted(folder.name for folder in _SHIPPED.iterdir())


def read_recipes(name: str) -> list[Recipe]:
    """Read the files of a recipe: a shipped one, a ``.toml`` file, or a folder of them.

    A `LeafidError` is raised when there is none, or one isn't valid: it says the file,
    the key, what was expected and what is there.
    """
    path = Path(name)
    if name in list_recipes():
        path = _SHIPPED / name
    files = [path] if path.is_file() else []
    if name and path.is_dir():
        files = sorted(path.glob("*.toml"))
    if not files:
        known = ", ".join(list_recipes())
        raise LeafidError(
            f"{path}: no such recipe; expected one of {known}, a folder with .toml "
            "files, or such a file"
        )
    return [
        parse_recipe(parse_toml(read_text(file), dict, file), str(file))
        for file in files
    ]


def load_recipe(name: str, acquisition_type: AcquisitionType) -> Recipe:
    """Read the recipe of an acquisition type, one that `read_recipes` reads.

    A `LeafidError` is raised when there is none that serves the type, or several.
    """
    recipes = read_recipes(name)
    serving = [recipe for recipe in recipes if acquisition_type in recipe.types]
    if len(serving) != 1:
        served = ", ".join(type_ for recipe in recipes for type_ in recipe.types)
        raise LeafidError(
            f"recipe {name}: expected one file that serves {acquisition_type}, found "
            f"types {served}"
        )
    return serving[0]


def parse_recipe(data: Any, source: str) -> Recipe:
    """Make a recipe from plain data, as TOML or JSON gives it, checking every value.

    The table ``defaults`` holds values of all experts that don't set them. A
    `LeafidError`, whose message begins with `source`, is raised at the first value that
    is not as expected.
    """
    data = dict(convert(data, dict, source))
    defaults = convert(data.pop("defaults", {}), dict, f"{source}: defaults")
    experts = data.get("experts")
    if isinstance(experts, dict):
        data["experts"] = {
            name: defaults | table if isinstance(table, dict) else table
            for name, table in experts.items()
        }
    data.setdefault("training_types", data.get("types", ()))
    recipe = convert(data, Recipe, source)
    for name, expert in recipe.experts.items():
        try:
            expert.check_classifier()
        except ValueError as error:
            raise LeafidError(f"{source}: experts.{name}: {error}") from None
    return recipe
