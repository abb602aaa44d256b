"""What a model knows of its species, as tables, as JSON, and as the plates of the field guide."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from leafid.model.held_out import SCORE_TITLES
from leafid.model.model import Model
from leafid.model.species import Species, TypeRecord
from leafid.pages.trait_statements import Statement, state_traits
from leafid.pages.trait_words import (
    describe,
    get_place,
    read_marks,
)
from leafid.pictures.names import (
    describe_common_names,
    find_accepted_name,
    read_common_names,
)
from leafid.scoring.tables import Cell, Table
from leafid.textfiles import read_text
from leafid.translation import format_number, join_clauses, translate

# A trait is described if it is measured in this share of the pictures in which the most traits are.
_MEASURED_SHARE = 0.4


def make_guide(model: Model, file: Path) -> dict[str, Any]:
    """Make the values of ``field_guide.html`` for the model that was read from a file."""
    plates: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, species in sorted(
        model.species.items(), key=lambda pair: (pair[1].taxon.family or "~", pair[0])
    ):
        statements = state_typical_traits(name, species)
        named = read_common_names().get(name, {})
        plate = {
            "name": name,
            "common_names": describe_common_names(name, species.vernacular_names[:1]),
            "names": [*species.vernacular_names, *named.values()],
            "species": species,
            "traits": describe(statements, "botanical").values(),
            "plain_traits": describe(statements, "plain").values(),
            "forms": named.get("forms"),
            "taken_for": _list_taken_for(species),
        }
        plates[species.taxon.family or ""].append(plate)
    card = file.with_suffix(".md")
    added = sorted(
        {
            name
            for type_model in model.types.values()
            for name in type_model.identifier.added
        }
    )
    note = translate(
        "Scores are those of the training, before species were added: {names}.",
        names=", ".join(added),
    )
    return {
        "source": file.name,
        "plates": plates,
        "types": _tabulate_types(model),
        "species": _tabulate_species(model),
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
                "pictures": type_model.identifier.n_pictures,
                "plants": type_model.identifier.n_plants,
                "recipe": type_model.identifier.recipe.summary,
                "scores": type_model.scores,
                "added": list(type_model.identifier.added),
            }
            for type_, type_model in model.types.items()
        },
        "species": [
            _describe_species(name, species)
            for name, species in sorted(model.species.items())
        ],
    }


def _list_taken_for(species: Species) -> list[str]:
    """List the species that held-out pictures were taken for instead, most frequent first."""
    counts: Counter[str] = Counter()
    for record in species.types.values():
        counts.update(record.held_out.confused_with if record.held_out else {})
    return sorted(counts, key=lambda name: (-counts[name], name))


def state_typical_traits(name: str, species: Species) -> list[Statement]:
    """State the medians of those of a species' traits that most of its plants agree about, but for sizes.

    Leaflets that overlap can make a compound leaf look simple: a species is compound if most of its pictures are. What
    `marks.csv` says of the species takes the place of what was measured.
    """
    least = _MEASURED_SHARE * max(
        (trait.n_pictures for trait in species.traits.values()), default=0
    )
    ranges = {
        name: trait
        for name, trait in species.traits.items()
        if trait.n_pictures >= least
    }
    low, typical, high = (
        state_traits({name: getattr(range_, end) for name, range_ in ranges.items()})
        for end in ("low", "median", "high")
    )
    kinds = [{s.trait: s.kind for s in statements} for statements in (low, high)]
    stated = {
        statement.trait: statement
        for statement in typical
        if all(kind.get(statement.trait) == statement.kind for kind in kinds)
    }
    if "compound" in ranges and ranges["compound"].median == 1:
        stated = {"compound": Statement("compound", "compound")} | stated
    marked = {**stated, **read_marks().get(name, {})}
    # From the whole leaf to its details, marks too.
    return sorted(filter(None, marked.values()), key=get_place)


def _describe_species(name: str, species: Species) -> dict[str, Any]:
    taxon = species.taxon
    return {
        "species": name,
        "accepted_name": find_accepted_name(name),
        "common_names": list(species.vernacular_names),
        "genus": taxon.genus,
        "family": taxon.family,
        "order": taxon.order,
        "pictures": species.n_pictures,
        "plants": species.n_plants,
        "types": {
            str(type_): _describe_type(record)
            for type_, record in species.types.items()
        },
        "traits": {
            name: {
                "low": trait.low,
                "median": trait.median,
                "high": trait.high,
                "pictures": trait.n_pictures,
            }
            for name, trait in species.traits.items()
        },
        "description": join_clauses(
            describe(state_typical_traits(name, species), "botanical").values()
        ),
        "thumbnails": len(species.thumbnails),
    }


def _describe_type(record: TypeRecord) -> dict[str, Any]:
    held_out = record.held_out and {
        "pictures": record.held_out.n_pictures,
        "first": record.held_out.n_first,
        "among_five": record.held_out.n_five,
        "taken_for": record.held_out.confused_with,
    }
    return {
        "pictures": record.n_pictures,
        "plants": record.n_plants,
        "held_out": held_out,
    }


def _tabulate_types(model: Model) -> Table:
    columns = [
        translate("type"),
        translate("pictures"),
        translate("plants"),
        *map(translate, SCORE_TITLES.values()),
        translate("held-out pictures"),
    ]
    rows: list[list[Cell]] = [
        [
            *(
                translate(str(type_)),
                type_model.identifier.n_pictures,
                type_model.identifier.n_plants,
            ),
            *(_format_score(type_model.scores.get(key)) for key in SCORE_TITLES),
            int(type_model.scores["pictures"]),
        ]
        for type_, type_model in model.types.items()
    ]
    return Table(translate("Trained and held-out pictures"), columns, rows)


def _format_score(score: float | None) -> str | None:
    return None if score is None else format_number(score, ".3f")


def _tabulate_species(model: Model) -> Table:
    rows: list[list[Cell]] = []
    for name, species in sorted(model.species.items()):
        records = [species.types.get(type_) for type_ in model.types]
        held_out = [record and record.held_out for record in records]
        rows.append(
            [
                *(
                    name,
                    describe_common_names(name, species.vernacular_names[:1]),
                    species.taxon.family or "",
                ),
                *(species.n_pictures, species.n_plants),
                *(
                    translate(
                        "{part} of {all}", part=counts.n_first, all=counts.n_pictures
                    )
                    if counts
                    else None
                    for counts in held_out
                ),
                ", ".join(_list_taken_for(species)[:1]),
            ]
        )
    columns = [
        translate("species"),
        translate("common name"),
        translate("family"),
        translate("pictures"),
        translate("plants"),
        *(translate(str(type_)) for type_ in model.types),
        translate("taken for"),
    ]
    return Table(
        translate(
            "Species, with the share of held-out pictures that are identified correctly"
        ),
        columns,
        rows,
    )
