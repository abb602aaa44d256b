"""What a model knows of its species: tables, JSON, and plates of the field guide."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from leafid.grouping import group_by
from leafid.model.held_out import HELD_OUT_METRICS
from leafid.model.model import Model
from leafid.model.species import Species, TypeRecord
from leafid.pages.trait_statements import Statement, state_traits
from leafid.pages.trait_words import describe, get_place, read_marks
from leafid.pictures.names import (
    describe_common_names,
    find_accepted_name,
    read_common_names,
)
from leafid.pictures.picture import AcquisitionType
from leafid.scoring.tables import Cell, Table
from leafid.textfiles import read_text
from leafid.translation import format_number, join_clauses, translate

# A trait is described if the pictures that show it are this share of the pictures that
# show the most frequent one.
_MEASURED_SHARE = 0.4
#: Columns of tables.
SPECIES_COLUMNS = ("species", "common name", "family", "pictures", "plants")
HELD_OUT = "held-out pictures"
TAKEN_FOR = "taken for"
# What JSON calls the fields of records of a species.
_KEYS = {
    "n_pictures": "pictures",
    "n_plants": "plants",
    "n_first": "first",
    "n_five": "among_five",
    "confused_with": "taken_for",
}


def make_guide(model: Model, file: Path) -> dict[str, Any]:
    """Make the values of ``field_guide.html`` for a model that was read from a file.

    Parameters
    ----------
    model : Model
    file : Path
        A model card beside it, with the ending ``.md``, is shown as well.

    Returns
    -------
    dict of str to object
        `source`, `plates` (by family), `types` and `species` (tables), `card`, `note`.
    """
    plates = [_make_plate(name, model.species[name]) for name in sorted(model.species)]
    families = group_by(plates, lambda plate: plate["species"].taxon.family or "")
    card = file.with_suffix(".md")
    added: set[str] = set()
    for type_model in model.types.values():
        added.update(type_model.identifier.added)
    note = translate(
        "Scores are those of the training, before species were added: {names}.",
        names=", ".join(sorted(added)),
    )
    return {
        "source": file.name,
        "plates": dict(
            sorted(families.items(), key=lambda item: (not item[0], item[0]))
        ),
        "types": _tabulate_types(model),
        "species": _tabulate_species(plates, model.types),
        "card": read_text(card) if card.is_file() else None,
        "note": note if added else "",
    }


def _make_plate(name: str, species: Species) -> dict[str, Any]:
    statements = state_typical_traits(name, species)
    names = read_common_names().get(name, {})
    return {
        "name": name,
        "common_names": describe_common_names(name, species.vernacular_names[:1]),
        "names": [*species.vernacular_names, *names.values()],
        "species": species,
        "traits": describe(statements, "botanical").values(),
        "plain_traits": describe(statements, "plain").values(),
        "forms": names.get("forms"),
        "taken_for": _list_taken_for(species),
    }


def describe_model(model: Model, source: str) -> dict[str, Any]:
    """Describe a model and its species, as JSON; docs/formats.md has the keys."""
    types = {}
    for type_, type_model in model.types.items():
        identifier = type_model.identifier
        types[str(type_)] = {
            "pictures": identifier.n_pictures,
            "plants": identifier.n_plants,
            "recipe": identifier.recipe.summary,
            "scores": type_model.scores,
            "added": list(identifier.added),
        }
    return {
        "model": source,
        "training_fingerprint": model.fingerprint,
        "types": types,
        "species": [
            _describe_species(name, species)
            for name, species in sorted(model.species.items())
        ],
    }


def _list_taken_for(species: Species) -> list[str]:
    """List the species that held-out pictures were taken for, most frequent first."""
    counts: Counter[str] = Counter()
    for record in species.types.values():
        counts.update(record.held_out.confused_with if record.held_out else {})
    return sorted(counts, key=lambda name: (-counts[name], name))


def state_typical_traits(name: str, species: Species) -> list[Statement]:
    """State the medians of the traits that most plants of a species agree about.

    Leaflets that overlap can make a compound leaf look simple: a species is compound if
    most of its pictures are. What `marks.csv` says of the species replaces measured
    traits.

    Parameters
    ----------
    name : str
        Name of the species in `marks.csv`.
    species : Species

    Returns
    -------
    list of Statement
        From the whole leaf to its details.
    """
    numbers = [trait.n_pictures for trait in species.traits.values()]
    least = _MEASURED_SHARE * max(numbers, default=0)
    ranges = {
        trait: range_
        for trait, range_ in species.traits.items()
        if range_.n_pictures >= least
    }
    quantiles = []
    for end in ("low", "median", "high"):
        values = {trait: getattr(range_, end) for trait, range_ in ranges.items()}
        quantiles.append({s.trait: s for s in state_traits(values)})
    statements: dict[str, Statement | None] = {}
    for trait, statement in quantiles[1].items():
        if all(
            trait in others and others[trait].kind == statement.kind
            for others in quantiles
        ):
            statements[trait] = statement
    if "compound" in ranges and ranges["compound"].median == 1:
        statements["compound"] = Statement("compound", "compound")
    statements |= read_marks().get(name, {})
    # From the whole leaf to its details, marks too.
    return sorted(filter(None, statements.values()), key=get_place)


def _describe_species(name: str, species: Species) -> dict[str, Any]:
    taxon = species.taxon
    statements = state_typical_traits(name, species)
    return {
        "species": name,
        "accepted_name": find_accepted_name(name),
        "common_names": list(species.vernacular_names),
        "genus": taxon.genus,
        "family": taxon.family,
        "order": taxon.order,
        "pictures": species.n_pictures,
        "plants": species.n_plants,
        "types": _rename(to_builtins(species.types, str_keys=True)),
        "traits": _rename(to_builtins(species.traits)),
        "description": join_clauses(describe(statements, "botanical").values()),
        "thumbnails": len(species.thumbnails),
    }


def _rename(record: Any) -> Any:
    """Rename the fields of records, in a record of records, as JSON calls them."""
    if not isinstance(record, dict):
        return record
    return {_KEYS.get(key, key): _rename(value) for key, value in record.items()}


def _tabulate_types(model: Model) -> Table:
    rows: list[list[Cell]] = []
    for type_, type_model in model.types.items():
        identifier = type_model.identifier
        scores = type_model.scores
        rows.append(
            [
                translate(str(type_)),
                identifier.n_pictures,
                identifier.n_plants,
                *(_format_score(scores.get(name)) for name in HELD_OUT_METRICS),
                int(scores["pictures"]),
            ]
        )
    title = translate("Trained and held-out pictures")
    columns = ("type", "pictures", "plants", *HELD_OUT_METRICS, HELD_OUT)
    return Table(title, list(map(translate, columns)), rows)


def _format_score(score: float | None) -> str | None:
    if score is None:
        return None
    return format_number(score, ".3f")


def _tabulate_species(
    plates: Iterable[Mapping[str, Any]], types: Collection[AcquisitionType]
) -> Table:
    columns = [*SPECIES_COLUMNS, *types, TAKEN_FOR]
    rows: list[list[Cell]] = []
    for plate in plates:
        species = plate["species"]
        rows.append(
            [
                plate["name"],
                plate["common_names"],
                species.taxon.family or "",
                species.n_pictures,
                species.n_plants,
                *(_format_held_out(species.types.get(type_)) for type_ in types),
                ", ".join(plate["taken_for"][:1]),
            ]
        )
    title = translate(
        "Species, with the share of held-out pictures that are identified correctly"
    )
    return Table(title, list(map(translate, columns)), rows)


def _format_held_out(record: TypeRecord | None) -> str | None:
    if record is None or record.held_out is None:
        return None
    counts = record.held_out
    return translate("{part} of {all}", part=counts.n_first, all=counts.n_pictures)
