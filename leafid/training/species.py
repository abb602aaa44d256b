"""Describes species by training pictures: counts, answers, traits, thumbnails."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path

import numpy as np

from leafid.descriptors.traits import TRAIT_NAMES, measure_reliable_traits
from leafid.features.computations import PictureFunction
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
from leafid.pictures.picture import AcquisitionType, Picture, count_plants
from leafid.pictures.splitting.units import weigh_by_plant
from leafid.segmentation.result import shrink
from leafid.segmentation.segment import segment
from leafid.versions import TRAIT_VERSION

#: Maximum number of pictures of a species and type that its traits are measured in.
TRAIT_PICTURES = 16
#: Maximum number of thumbnails of a species and type.
THUMBNAILS = 3
# Number of species that it is most often confused with.
_MAX_CONFUSED = 3
_JPEG_QUALITY = 75
_TYPES = list(AcquisitionType)


def describe_species(
    pictures: Sequence[Picture],
    held_out: Mapping[AcquisitionType, HeldOutAnswers],
    loader: FeatureLoader,
    *,
    thumbnails: bool | Collection[str] = True,
) -> dict[str, Species]:
    """Describe each species by the readable training pictures.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled pictures of known types.
    held_out : mapping of AcquisitionType to HeldOutAnswers
    loader : FeatureLoader
        It has the number of workers.
    thumbnails : bool or collection of str
        Keep the most typical pictures: of each species and type, the ones of different
        plants that are identified best; of these collections only.

    Returns
    -------
    dict of str to Species
        By name, in alphabetical order.
    """
    by_type = group_by(
        sorted(pictures, key=_order_by_type),
        lambda picture: (str(picture.species), picture.require_type()),
    )
    certainty, records = _assess_answers(held_out)
    sample: list[Picture] = []
    typical: list[Picture] = []
    for (_, type_), group in by_type.items():
        # Traits are measured on sheets only; other pictures are read if they are kept
        # as thumbnails.
        if type_.lies_on_sheet:
            sample += _sample_plants(group)
        if isinstance(thumbnails, Collection):
            group = [p for p in group if p.collection in thumbnails]
        if thumbnails:
            typical += _choose_typical(group, certainty)
    traits = _measure_traits([*sample, *typical], loader)
    images = _make_thumbnails(typical, traits, loader)
    species = {}
    for name, keys in groupby(by_type, lambda key: key[0]):
        types = {}
        members = []
        for key in keys:
            group = by_type[key]
            types[key[1]] = TypeRecord(
                len(group), count_plants(group), records.get(key)
            )
            members += group
        taxa = [picture.taxon for picture in members if picture.taxon]
        vernacular_names = chain(*(picture.vernacular_names for picture in members))
        species[name] = Species(
            # Of the taxa, take the one that names the most of its family and order.
            taxon=max(taxa, key=lambda taxon: bool(taxon.family) + bool(taxon.order)),
            vernacular_names=tuple(dict.fromkeys(vernacular_names)),
            n_pictures=len(members),
            n_plants=count_plants(members),
            types=types,
            traits=_summarise_traits(members, traits),
            thumbnails=tuple(images.get(name, ())),
        )
    return species


def _order_by_type(picture: Picture) -> tuple[str, int]:
    return str(picture.species), _TYPES.index(picture.require_type())


def _measure_traits(
    pictures: Sequence[Picture], loader: FeatureLoader
) -> dict[Path, dict[str, float]]:
    """Measure the traits of pictures by file and name, where they are measured well."""
    by_file = {picture.file: picture for picture in pictures}
    function = PictureFunction(
        f"traits|{TRAIT_VERSION}", _tabulate_traits, LONGEST_SIDE
    )
    tables = loader.compute_for_each(function, list(by_file.values()), "measure")
    traits: dict[Path, dict[str, float]] = {file: {} for file in by_file}
    for file, table in zip(by_file, tables, strict=True):
        if table is not None:
            values = dict(zip(TRAIT_NAMES, table.tolist(), strict=True))
            traits[file] = {k: v for k, v in values.items() if not math.isnan(v)}
    return traits


def _make_thumbnails(
    pictures: Sequence[Picture],
    traits: Mapping[Path, dict[str, float]],
    loader: FeatureLoader,
) -> dict[str, list[Thumbnail]]:
    """Make the thumbnails of pictures, by species."""
    results = loader.map_pictures(
        _make_thumbnail, pictures, [traits[picture.file] for picture in pictures]
    )
    by_species: dict[str, list[Thumbnail]] = {}
    thumbnails = loader.show_progress(results, len(pictures), "thumbnails")
    for picture, thumbnail in zip(pictures, thumbnails, strict=True):
        if thumbnail:
            by_species.setdefault(str(picture.species), []).append(thumbnail)
    return by_species


def _assess_answers(
    held_out: Mapping[AcquisitionType, HeldOutAnswers],
) -> tuple[dict[Path, float], dict[tuple[str, AcquisitionType], HeldOutRecord]]:
    """Give the probability of each picture's species by file, and count the answers.

    Answers are counted by species and type.
    """
    certainty: dict[Path, float] = {}
    records = {}
    for type_, answers in held_out.items():
        known = answers.select_known()
        values = known.probabilities[np.arange(len(known.pictures)), known.labels]
        for picture, value in zip(known.pictures, values.tolist(), strict=True):
            certainty[picture.file] = round(value, 6)
        rank = rank_labels(known)
        first = np.array(known.species)[known.probabilities.argmax(axis=1)]
        names = np.array([picture.species for picture in known.pictures])
        for name in np.unique(names).tolist():
            ranks = rank[names == name]
            wrong = np.sort(first[(names == name) & (rank != 1)]).tolist()
            records[name, type_] = HeldOutRecord(
                len(ranks),
                int((ranks == 1).sum()),
                int((ranks <= 5).sum()),
                dict(Counter(wrong).most_common(_MAX_CONFUSED)),
            )
    return certainty, records


def _choose_typical(
    pictures: Sequence[Picture], certainty: Mapping[Path, float]
) -> list[Picture]:
    """Choose the pictures that are most surely identified, each of another plant."""
    best: dict[str, Picture] = {}
    for picture in sorted(
        pictures, key=lambda p: (-certainty.get(p.file, 0), str(p.file))
    ):
        best.setdefault(picture.group, picture)
    return list(best.values())[:THUMBNAILS]


def _sample_plants(pictures: Sequence[Picture]) -> list[Picture]:
    """Choose at most `TRAIT_PICTURES` pictures, in rounds with one of each plant."""
    n_before: Counter[str] = Counter()
    rounds = []
    for picture in pictures:
        rounds.append(n_before[picture.group])
        n_before[picture.group] += 1
    order = np.argsort(rounds, kind="stable")
    return [pictures[index] for index in order[:TRAIT_PICTURES]]


def _tabulate_traits(image: np.ndarray, picture: Picture) -> np.ndarray:
    """Measure the traits of a leaf on a sheet: float (n_traits,), NaN where unsure."""
    values: dict[str, float] = {}
    if picture.require_type().lies_on_sheet:
        values, _ = measure_reliable_traits(segment(image, picture.require_type()))
    return np.array([values.get(name, np.nan) for name in TRAIT_NAMES])


def _summarise_traits(
    pictures: Sequence[Picture], traits: Mapping[Path, Mapping[str, float]]
) -> dict[str, TraitRange]:
    """Compute the quantiles of each trait, each plant with the same weight."""
    ranges = {}
    for name in TRAIT_NAMES:
        sample = [p for p in pictures if name in traits.get(p.file, ())]
        if not sample:
            continue
        quantiles = np.quantile(
            [traits[picture.file][name] for picture in sample],
            (0.1, 0.5, 0.9),
            weights=weigh_by_plant(sample),
            method="inverted_cdf",
        )
        low, median, high = map(_round, quantiles)
        ranges[name] = TraitRange(low, median, high, len(sample))
    return ranges


def _make_thumbnail(picture: Picture, traits: dict[str, float]) -> Thumbnail | None:
    """Make the thumbnail of a picture with its traits, unless it is too narrow."""
    image, _ = read_hashed_image(picture.file, LONGEST_SIDE, picture.data)
    small = shrink(image, THUMBNAIL_SIDE)
    if min(small.shape[:2]) < MIN_SIDE:
        return None
    # Names of files may hold bytes that are no text.
    title, author, licence = (
        (words or "").encode(errors="replace").decode()[:200]
        for words in (picture.title, picture.author, picture.licence)
    )
    return Thumbnail(
        encode_jpeg(small, _JPEG_QUALITY),
        type=picture.require_type(),
        name=title,
        author=author,
        licence=licence,
        traits={trait: _round(value) for trait, value in traits.items()},
    )


def _round(value: float) -> float:
    return float(f"{value:.4g}")
