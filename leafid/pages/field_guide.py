"""What a model knows of its species: tables, JSON, and the plates of the field guide."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leafid.metrics.held_out import SCORE_TITLES
from leafid.model.model import Model
from leafid.model.species import Species, TypeRecord
from leafid.pages.trait_words import describe_traits
from leafid.pictures.picture import AcquisitionType
from leafid.scoring.tables import Cell, Table
from leafid.textfiles import read_text

# A trait is described if it is measured in this share of the pictures in which the most traits are.
_MEASURED_SHARE = 0.4
# Maximum number of added species that are named.
_LISTED = 10


@dataclass(frozen=True)
class Plate:
    """A species of the field guide."""

    name: str
    species: Species
    #: Described by their medians.
    traits: Mapping[str, str]

    @property
    def taken_for(self) -> list[str]:
        """The species that held-out pictures were taken for instead, most frequent first."""
        counts: Counter[str] = Counter()
        for own in self.species.types.values():
            counts.update(own.held_out.confused_with if own.held_out else {})
        return sorted(counts, key=lambda name: (-counts[name], name))


def make_guide(model: Model, file: Path) -> dict[str, Any]:
    """Make the values of ``field_guide.html`` for the model that was read from a file."""
    plates = _make_plates(model)
    card = file.with_suffix(".md")
    added = sorted({name for own in model.types.values() for name in own.identifier.added})
    note = f"Scores are those of the training, before species were added: {', '.join(added[:_LISTED])}"
    note += f" and {len(added) - _LISTED} more." if len(added) > _LISTED else "."
    return {
        "source": file.name,
        "plates": plates,
        "types": _tabulate_types(model),
        "species": _tabulate_species(plates, list(model.types)),
        "card": read_text(card) if card.is_file() else None,
        "note": note if added else "",
    }


def describe_model(model: Model, source: str) -> dict[str, Any]:
    """Describe a model and its species, as JSON; docs/formats.md has the keys."""
    return {
        "model": source,
        "training_fingerprint": model.fingerprint,
        "types": {
            str(type_): {
                "pictures": own.identifier.n_pictures,
                "plants": own.identifier.n_plants,
                "recipe": own.identifier.recipe.summary,
                "scores": own.scores,
                "added": list(own.identifier.added),
            }
            for type_, own in model.types.items()
        },
        "species": [_describe_plate(plate) for plate in _make_plates(model)],
    }


def _make_plates(model: Model) -> list[Plate]:
    """Make a plate of each species, in alphabetical order."""
    return [Plate(name, own, describe_typical_traits(own)) for name, own in sorted(model.species.items())]


def describe_typical_traits(species: Species) -> dict[str, str]:
    """Describe a species by the medians of its traits.

    Leaflets that overlap can make a compound leaf look simple: where pictures disagree, it is called neither.
    """
    most = max((own.n_pictures for own in species.traits.values()), default=0)
    medians = {name: own.median for name, own in species.traits.items() if own.n_pictures >= _MEASURED_SHARE * most}
    leaflets = species.traits.get("leaflets")
    if leaflets and leaflets.low <= 1 < leaflets.high:
        medians.pop("leaflets", None)
    return describe_traits(medians)


def _describe_plate(plate: Plate) -> dict[str, Any]:
    taxon = plate.species.taxon
    return {
        "species": plate.name,
        "common_names": list(plate.species.vernacular_names),
        "genus": taxon.genus,
        "family": taxon.family,
        "order": taxon.order,
        "pictures": plate.species.n_pictures,
        "plants": plate.species.n_plants,
        "types": {str(type_): _describe_type(own) for type_, own in plate.species.types.items()},
        "traits": {
            name: {"low": own.low, "median": own.median, "high": own.high, "pictures": own.n_pictures}
            for name, own in plate.species.traits.items()
        },
        "description": "; ".join(plate.traits.values()),
        "thumbnails": len(plate.species.thumbnails),
    }


def _describe_type(record: TypeRecord) -> dict[str, Any]:
    own = record.held_out
    held_out = own and {
        "pictures": own.n_pictures,
        "first": own.n_first,
        "among_five": own.n_five,
        "taken_for": dict(own.confused_with),
    }
    return {"pictures": record.n_pictures, "plants": record.n_plants, "held_out": held_out}


def _tabulate_types(model: Model) -> Table:
    """List the acquisition types with the scores of the training."""
    columns = ["type", "pictures", "plants", *SCORE_TITLES.values(), "held-out pictures"]
    rows: list[list[Cell]] = [
        [
            *(str(type_), own.identifier.n_pictures, own.identifier.n_plants),
            *(own.scores.get(key) for key in SCORE_TITLES),
            int(own.scores["pictures"]),
        ]
        for type_, own in model.types.items()
    ]
    return Table("Trained and held-out pictures", columns, rows)


def _tabulate_species(plates: Sequence[Plate], types: Sequence[AcquisitionType]) -> Table:
    """List the species with the share of held-out pictures of each type that are identified correctly."""
    rows: list[list[Cell]] = []
    for plate in plates:
        own = plate.species
        held_out = [own.types[type_].held_out if type_ in own.types else None for type_ in types]
        rows.append(
            [
                *(plate.name, ", ".join(own.vernacular_names[:1]), own.taxon.family or ""),
                *(own.n_pictures, own.n_plants),
                *(f"{found.n_first} of {found.n_pictures}" if found else None for found in held_out),
                ", ".join(plate.taken_for[:1]),
            ]
        )
    columns = ["species", "common name", "family", "pictures", "plants", *map(str, types), "taken for"]
    return Table("Species, with the share of held-out pictures that are identified correctly", columns, rows)
