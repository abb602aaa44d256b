"""The species that can be drawn, as ``catalogue.toml`` describes them."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

from leafid.synthetic.species import Arrangement, LeafSpecies, Lobing, Outline, Venation


def _species(table: dict[str, Any]) -> LeafSpecies:
    outline = table["outline"]
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    values["arrangement"] = Arrangement(table.get("arrangement", Arrangement.SIMPLE))
    values["outline"] = Outline(**{**outline, "lobing": Lobing(outline.get("lobing", Lobing.NONE))})
    values["venation"] = Venation(**table.get("venation", {}))
    return LeafSpecies(**values)


def _read() -> tuple[LeafSpecies, ...]:
    text = (resources.files("leafid.synthetic") / "catalogue.toml").read_text(encoding="utf-8")
    return tuple(_species(table) for table in tomllib.loads(text)["species"])


#: In the order of the file: a small sample takes the species from the top.
SPECIES: tuple[LeafSpecies, ...] = _read()
