"""Chooses the pictures that a model learns from."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from leafid.errors import LeafidError
from leafid.pictures.names import UNKNOWN_SPECIES, separate_words
from leafid.pictures.picture import Picture, count_plants, group_by_collection

logger = logging.getLogger(__name__)


def select_training_pictures(
    pictures: Sequence[Picture], source: str = "the collection"
) -> list[Picture]:
    """Choose the labelled pictures of the training part, or of all if there is none.

    This is done for each of several collections. A warning says how many pictures have
    no label. Messages call the collection `source`. A `LeafidError` is raised when no
    picture is left, or the label of one is `UNKNOWN_SPECIES`.
    """
    candidates = []
    for members in group_by_collection(pictures).values():
        candidates += [p for p in members if p.part == "train"] or members
    labelled = [picture for picture in candidates if picture.species is not None]
    if not labelled:
        raise LeafidError(
            f"{source}: expected labelled pictures, found {len(pictures)} without a "
            "label; put them into folders named after their labels, or use "
            "--label-from or --metadata"
        )
    for picture in labelled:
        name = separate_words(str(picture.species)).capitalize()
        if name == UNKNOWN_SPECIES:
            raise LeafidError(
                f"{picture.file}: expected the label of a class, found {name!r}, which "
                "stands for none of the classes in a ground truth; rename the label, "
                "or leave its pictures out"
            )
    left_out = [p.file for p in candidates if p.species is None and p.part != "test"]
    if left_out:
        logger.warning(
            "%s: %d of %d pictures have no label and are left out, %s first",
            source,
            len(left_out),
            len(candidates),
            left_out[0],
        )
    return labelled


def assume_plants(pictures: Sequence[Picture]) -> list[Picture]:
    """Give a plant to pictures of several collections that have none.

    A collection's pictures of a species are taken for one plant: if each counted as a
    plant, most held-out pictures would be of leaves that a model was trained on, and it
    would expect as much of others. A warning says what is assumed. A single collection
    stays as it is, and so do several where no species would have two plants.
    """
    assumed = []
    for picture in pictures:
        plant = picture.plant or f"{picture.species} (assumed)"
        assumed.append(replace(picture, plant=plant))
    n_species = len({picture.species for picture in assumed})
    n_plants = count_plants(assumed)
    collections = group_by_collection(pictures)
    if len(collections) < 2 or n_plants <= n_species:
        return [*pictures]
    for name, members in collections.items():
        if n_unknown := sum(picture.plant is None for picture in members):
            logger.warning(
                "%s: the plants of %d of %d pictures are unknown; the pictures of a "
                "species count as one plant",
                name,
                n_unknown,
                len(members),
            )
    return assumed


def select_unknown_pictures(
    pictures: Sequence[Picture], known: Sequence[Picture]
) -> list[Picture]:
    """Choose the pictures of unknown species of the training part, or of no part.

    The pictures of a species whose plants are unknown count as one plant. A
    `LeafidError` is raised where known pictures are of one of the species.
    """
    species = {picture.species for picture in known} - {None}
    if wrong := [picture for picture in pictures if picture.species in species]:
        raise LeafidError(
            f"{wrong[0].file}: expected a species that the model is not to know, found "
            f"{wrong[0].species!r}, and {len(wrong)} such pictures in all; leave them "
            "out, or train on them"
        )
    return [
        replace(picture, plant=picture.plant or picture.species)
        for picture in pictures
        if picture.part in (None, "train")
    ]


def check_labels(pictures: Sequence[Picture]) -> None:
    """Raise a `LeafidError` if all pictures have one label, which no fit accepts."""
    labels = {picture.species for picture in pictures}
    if len(labels) == 1:
        raise LeafidError(
            "expected pictures of at least two labels to learn from, found only "
            f"{labels.pop()!r}; name a table of labels with --metadata, or put the "
            "pictures of each label into a folder"
        )
