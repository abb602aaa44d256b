"""The members of a model file that keep statistics of the training rows, for further species."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leafid.learning.row_statistics import N_COMPONENTS, ExpertStatistics, RowStatistics
from leafid.learning.training_matrix import RowPreparation
from leafid.model.archive import ModelArchive
from leafid.model.identifier import Identifier
from leafid.model.model import Model

# Step of quantised numbers, relative to their root mean square: scores stay the same, and a number takes less than four
# bits in the archive.
_RELATIVE_STEP = 0.5
_MAX_DOMAINS = 1000


def dump_statistics(model: Model) -> tuple[dict[str, dict[str, Any]], dict[str, np.ndarray]]:
    """Turn the statistics of identifiers into JSON values, by type, and arrays; those that are shared come once."""
    entries: dict[str, dict[str, Any]] = {}
    arrays: dict[str, np.ndarray] = {}
    holders: dict[int, str] = {}
    for type_, identifier in model.identifiers.items():
        if not identifier.statistics:
            continue
        holder = holders.setdefault(id(identifier.statistics), str(type_))
        entry = entries[str(type_)] = {"type": holder, "targets": {k: list(v) for k, v in identifier.targets.items()}}
        if holder == type_:
            entry["experts"] = {}
            for name, own in identifier.statistics.items():
                entry["experts"][name], members = _dump_expert(own)
                arrays.update({f"{type_}/statistics/{name}/{member}": array for member, array in members.items()})
    return entries, arrays


def _dump_expert(statistics: ExpertStatistics) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    rows, preparation = statistics.rows, statistics.preparation
    scale = np.float32(1) if preparation.scale is None else preparation.scale
    domains = sorted(preparation.means)
    # Deviations in the units of rows: measures have different units, and differ little between domains.
    deviations = [(preparation.means[domain] - preparation.mean) * scale for domain in domains]
    components, component_steps = _quantise(rows.components)
    means, mean_steps = _quantise(np.array([*deviations, rows.mean]).T)
    rest_scale = max(float(rows.rest.max()), 1e-20)
    entry = {
        "weight": rows.weight,
        "unit": statistics.unit,
        "domains": domains,
        "n_components": components.shape[1],
        "rest_scale": rest_scale,
        "is_standardised": preparation.scale is not None,
    }
    arrays = {
        "components": components,
        "component_steps": component_steps,
        "means": means,
        "mean_steps": mean_steps,
        "mean": preparation.mean.astype(np.float16) if preparation.scale is None else preparation.mean,
        "rest": (rows.rest / rest_scale).astype(np.float16),
    }
    return entry, arrays if preparation.scale is None else arrays | {"scale": preparation.scale}


def _quantise(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round columns (d, k) to multiples of a step of each: int8 (d, k), and the steps, float32 (k,)."""
    spread, highest = np.sqrt((columns**2).mean(axis=0)), np.abs(columns).max(axis=0)
    steps = np.maximum(np.maximum(_RELATIVE_STEP * spread, highest / 127), 1e-20).astype(np.float32)
    return np.clip(np.rint(columns / steps), -127, 127).astype(np.int8), steps


def read_statistics(
    entry: Mapping[str, Any], identifier: Identifier, archive: ModelArchive, shared: Mapping[str, Identifier]
) -> tuple[Mapping[str, ExpertStatistics], dict[str, tuple[float, float]]]:
    """Read the statistics and targets of an identifier; `shared` are those that were read before, by type."""
    targets = {name: (float(off), float(on)) for name, (off, on) in entry["targets"].items()}
    if targets.keys() != identifier.scorers.keys() or not np.isfinite(list(targets.values())).all():
        raise ValueError(f"expected the two targets of every expert, found {entry['targets']!r}")
    if entry["type"] != identifier.type:
        other = shared[entry["type"]]
        if not identifier.recipe.shares_training_with(other.recipe):
            raise ValueError(f"expected statistics of a type with the same training, found {entry['type']!r}")
        return other.statistics, targets
    statistics = {}
    for name, scorer in identifier.scorers.items():
        prefix = f"{identifier.type}/statistics/{name}"
        statistics[name] = _read_expert(entry["experts"][name], prefix, len(scorer.coefficients), scorer.map, archive)
    return statistics, targets


def _read_expert(
    entry: Mapping[str, Any], prefix: str, n_columns: int, map_: str, archive: ModelArchive
) -> ExpertStatistics:
    domains, n_components = [int(domain) for domain in entry["domains"]], int(entry["n_components"])
    weight, unit, rest_scale = (float(entry[key]) for key in ("weight", "unit", "rest_scale"))
    if not 0 < len(domains) <= _MAX_DOMAINS or not 0 < n_components <= N_COMPONENTS:
        raise ValueError(f"{prefix}: expected domains, and at most {N_COMPONENTS} components, found {entry!r}")
    if not all(0 < value < np.inf for value in (weight, unit, rest_scale)):
        raise ValueError(f"{prefix}: expected weights above 0, found {entry!r}")

    def read_quantised(name: str, steps: str, k: int) -> np.ndarray:
        whole = archive.read_array(f"{prefix}/{name}", n_columns, k, kind="i")
        return whole * archive.read_array(f"{prefix}/{steps}", k).astype(np.float32)

    components = read_quantised("components", "component_steps", n_components)
    *deviations, rows_mean = read_quantised("means", "mean_steps", len(domains) + 1).T
    mean, rest = (archive.read_array(f"{prefix}/{name}", n_columns).astype(np.float32) for name in ("mean", "rest"))
    scale = archive.read_array(f"{prefix}/scale", n_columns) if entry["is_standardised"] else None
    if (rest < 0).any() or (scale is not None and (scale < 0).any()):
        raise ValueError(f"{prefix}: expected a scale and a rest of 0 or more")
    units = np.ones(n_columns, np.float32) if scale is None else scale
    unscale = np.divide(1, units, out=np.zeros(n_columns, np.float32), where=units > 0)
    means = {domain: mean + own * unscale for domain, own in zip(domains, deviations, strict=True)}
    rows = RowStatistics(components, rest * np.float32(rest_scale), rows_mean, weight)
    return ExpertStatistics(rows, RowPreparation(map_, means, mean, scale), unit)
