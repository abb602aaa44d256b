"""Describes the species of training pictures: names, counts, held-out answers, traits, most typical pictures."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from leafid.descriptors.traits import TRAIT_NAMES, measure_reliable_traits
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import LONGEST_SIDE
from leafid.grouping import group_by
from leafid.model.held_out import HeldOutAnswers, rank_labels
from leafid.model.species import (
    THUMBNAIL_SIDE,
    HeldOutRecord,
    Species,
    Thumbnail,
    TraitRange,
    TypeRecord,
)
from leafid.pictures.decoding import encode_jpeg, read_hashed_image
from leafid.pictures.header import MIN_SIDE
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.result import shrink
from leafid.segmentation.segment import segment
from leafid.versions import TRAIT_VERSION

#: Maximum number of pictures of a species and type that its traits are measured in, of those that are kept as
#: thumbnails, and of the species that it is most often confused with.
TRAIT_PICTURES = 16
THUMBNAILS = 3
_MAX_CONFUSED = 3
_JPEG_QUALITY = 75
_TYPES = list(AcquisitionType)


def describe_species(
    pictures: Sequence[Picture],
    held_out: Mapping[AcquisitionType, HeldOutAnswers],
    loader: FeatureLoader,
    *,
    thumbnails: bool = True,
) -> dict[str, Species]:
    """Describe each species, by its name in alphabetical order, from the readable training pictures.

    The loader gives the number of workers and the progress. With `thumbnails`, the most typical pictures are kept: of
    each species and type, those of different plants that are identified best.
    """
    by_species: dict[str, dict[AcquisitionType, list[Picture]]] = {}
    for picture in sorted(
        pictures,
        key=lambda picture: (
            str(picture.species),
            _TYPES.index(picture.require_type()),
        ),
    ):
        by_species.setdefault(str(picture.species), {}).setdefault(
            picture.require_type(), []
        ).append(picture)
    certainty, records = _assess_answers(held_out)
    typical: dict[str, list[Picture]] = {name: [] for name in by_species}
    sampled: list[Picture] = []
    for name, by_type in by_species.items():
        for type_, of_type in by_type.items():
            # Traits are measured on sheets only; other pictures are read if they are kept as thumbnails.
            sampled += _sample_plants(of_type) if type_.lies_on_sheet else []
            typical[name] += _choose_typical(of_type, certainty) if thumbnails else []
    shown = list(
        {
            picture.file: picture
            for of_species in typical.values()
            for picture in of_species
        }.values()
    )
    measured = list({picture.file: picture for picture in sampled + shown}.values())
    tables = loader.load_measures(
        measured,
        f"traits|{TRAIT_VERSION}",
        len(TRAIT_NAMES),
        LONGEST_SIDE,
        _tabulate_traits,
        "measure",
    )
    traits = {
        picture.file: _read_traits(table)
        for picture, table in zip(measured, tables, strict=True)
    }
    made = loader.map_pictures(
        _make_thumbnail, shown, [traits[picture.file] for picture in shown]
    )
    images = loader.show_progress(made, len(shown), "thumbnails")
    by_file = {
        picture.file: image for picture, image in zip(shown, images, strict=True)
    }
    described = {}
    for name, by_type in by_species.items():
        of_species = [picture for of_type in by_type.values() for picture in of_type]
        described[name] = Species(
            # Of the taxa, take the one that names the most of its family and order.
            max(
                (p.taxon for p in of_species if p.taxon),
                key=lambda taxon: bool(taxon.family) + bool(taxon.order),
            ),
            tuple(
                dict.fromkeys(
                    vernacular for p in of_species for vernacular in p.vernacular_names
                )
            ),
            len(of_species),
            _count_plants(of_species),
            {
                type_: TypeRecord(
                    len(of_type), _count_plants(of_type), records.get((name, type_))
                )
                for type_, of_type in by_type.items()
            },
            _summarise_traits(of_species, traits),
            tuple(
                thumbnail
                for picture in typical[name]
                if (thumbnail := by_file[picture.file])
            ),
        )
    return described


def _count_plants(pictures: Sequence[Picture]) -> int:
    return len({picture.group for picture in pictures})


def _assess_answers(
    held_out: Mapping[AcquisitionType, HeldOutAnswers],
) -> tuple[dict[Path, float], dict[tuple[str, AcquisitionType], HeldOutRecord]]:
    """Give the probability of each picture's species by file, and count the answers of each species and type."""
    certainty: dict[Path, float] = {}
    records = {}
    for type_, answers in held_out.items():
        known = answers.select_known()
        values = known.probabilities[np.arange(len(known.pictures)), known.labels]
        certainty.update(
            (p.file, round(float(value), 6))
            for p, value in zip(known.pictures, values, strict=True)
        )
        rank = rank_labels(known)
        first = np.array(known.species)[known.probabilities.argmax(axis=1)]
        names = np.array([picture.species for picture in known.pictures])
        for name in np.unique(names).tolist():
            ranks = rank[names == name]
            confused = Counter(
                np.sort(first[(names == name) & (rank != 1)]).tolist()
            ).most_common(_MAX_CONFUSED)
            numbers = len(ranks), int((ranks == 1).sum()), int((ranks <= 5).sum())
            records[name, type_] = HeldOutRecord(*numbers, dict(confused))
    return certainty, records


def _choose_typical(
    pictures: Sequence[Picture], certainty: Mapping[Path, float]
) -> list[Picture]:
    """Choose the pictures that are identified with the highest probability, each of another plant."""
    best: dict[str, Picture] = {}
    for picture in sorted(
        pictures, key=lambda p: (-certainty.get(p.file, 0), str(p.file))
    ):
        best.setdefault(picture.group, picture)
    return list(best.values())[:THUMBNAILS]


def _sample_plants(pictures: Sequence[Picture]) -> list[Picture]:
    """Choose at most `TRAIT_PICTURES` pictures, in rounds that take one of each plant."""
    by_plant = group_by(range(len(pictures)), lambda index: pictures[index].group)
    turns = [
        (turn, index)
        for of_plant in by_plant.values()
        for turn, index in enumerate(of_plant)
    ]
    return [pictures[index] for _, index in sorted(turns)[:TRAIT_PICTURES]]


def _tabulate_traits(image: np.ndarray, picture: Picture) -> np.ndarray:
    """Measure the traits of a leaf on a sheet, float (n_traits,): NaN for those that are not measured well enough."""
    type_ = picture.require_type()
    values = (
        measure_reliable_traits(segment(image, type_))[0] if type_.lies_on_sheet else {}
    )
    return np.array([values.get(name, np.nan) for name in TRAIT_NAMES])


def _read_traits(table: np.ndarray | None) -> dict[str, float]:
    values = [] if table is None else table.tolist()
    return {
        name: value
        for name, value in zip(TRAIT_NAMES, values, strict=False)
        if not math.isnan(value)
    }


def _summarise_traits(
    pictures: Sequence[Picture], traits: Mapping[Path, Mapping[str, float]]
) -> dict[str, TraitRange]:
    """Compute the quantiles of each trait, each plant with the same weight."""
    ranges = {}
    for name in TRAIT_NAMES:
        measured = [
            picture for picture in pictures if name in traits.get(picture.file, ())
        ]
        if not measured:
            continue
        counts = Counter(picture.group for picture in measured)
        weights = [1 / counts[picture.group] for picture in measured]
        values = [traits[picture.file][name] for picture in measured]
        low, median, high = np.quantile(
            values, (0.1, 0.5, 0.9), weights=weights, method="inverted_cdf"
        )
        ranges[name] = TraitRange(
            _round(low), _round(median), _round(high), len(measured)
        )
    return ranges


def _make_thumbnail(picture: Picture, traits: dict[str, float]) -> Thumbnail | None:
    """Make the thumbnail of a picture with its traits, unless it is too narrow."""
    image, _ = read_hashed_image(picture.file, LONGEST_SIDE, picture.data)
    small = shrink(image, THUMBNAIL_SIDE)
    if min(small.shape[:2]) < MIN_SIDE:
        return None
    # Names of files may hold bytes that are no text.
    credit = picture.title, picture.author, picture.licence
    name, author, licence = (
        (word or "").encode(errors="replace").decode()[:200] for word in credit
    )
    rounded = {trait: _round(value) for trait, value in traits.items()}
    return Thumbnail(
        encode_jpeg(small, _JPEG_QUALITY),
        picture.require_type(),
        name,
        author,
        licence,
        rounded,
    )


def _round(value: float) -> float:
    return float(f"{value:.4g}")
