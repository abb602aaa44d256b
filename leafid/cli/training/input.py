"""What commands that train read: labelled pictures and recipes."""

from collections import Counter
from collections.abc import Sequence

from leafid.cli.arguments import TYPES, PictureOptions, option
from leafid.cli.environment import Environment
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, choose_types_to_train, load_recipe
from leafid.model.bundled import assign_types
from leafid.model.recogniser import TypeRecogniser
from leafid.pictures.picture import AcquisitionType, EmptyClass, Picture
from leafid.pictures.splits import select_training_pictures
from leafid.pictures.summary import warn_of_shared_pictures


class TrainingOptions(PictureOptions):
    """Options that say what to train, and how."""

    only_type: str | None = option("train for this acquisition type only (default: all types)", choices=TYPES)
    recipe: str | None = option(
        "a shipped recipe (default, fast, small, baseline-bow), a .toml file, or a folder of such files "
        "(default: default)",
        metavar="R",
    )


def read_training_pictures(
    path: str, options: PictureOptions, *, all_parts: bool = False
) -> tuple[list[Picture], bool]:
    """Read the labelled pictures of a collection's training part, or of all parts.

    Also tell whether the collection has pictures that can't be used.
    """
    collection = options.read(path, EmptyClass)
    warn_of_shared_pictures(collection.pictures)
    labelled = collection.select_labelled().pictures if all_parts else ()
    return [*labelled] or select_training_pictures(collection.pictures, source=path), collection.is_incomplete


def assign_types_and_warn(
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    environment: Environment,
    recogniser: TypeRecogniser | None = None,
) -> list[Picture]:
    """Recognise unknown acquisition types, and report them; warn that unknown plants make held-out scores too high.

    A model that is extended has a recogniser, and its scores stay as they are.
    """
    n_unknown = sum(picture.plant is None for picture in pictures)
    if n_unknown and recogniser is None:
        environment.warn(
            f"the plants of {n_unknown} of {len(pictures)} pictures are unknown: where several show one plant, "
            "held-out scores are too high (top-1 0.993 instead of 0.85 for scans of ImageCLEF 2011); "
            "say --plants-from, or look for pictures of one leaf with 'leafid info --similar'"
        )
    typed = assign_types(pictures, loader, recogniser)
    if untyped := {picture.file for picture in pictures if picture.type is None}:
        counts = Counter(picture.type for picture in typed if picture.file in untyped)
        recognised = ", ".join(f"{type_} {counts[type_]}" for type_ in AcquisitionType if type_ in counts)
        environment.note(f"acquisition types recognised: {recognised or 'none'}")
    return typed


def load_recipes(options: TrainingOptions, pictures: list[Picture]) -> dict[AcquisitionType, Recipe]:
    """Load the recipe of each type to train: those among the pictures, or the one of ``--only-type``."""
    only = AcquisitionType(options.only_type) if options.only_type else None
    return {type_: load_recipe(options.recipe or "default", type_) for type_ in choose_types_to_train(pictures, only)}
