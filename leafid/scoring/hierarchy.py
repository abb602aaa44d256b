"""A plant run whose answers may stop at genus, family or order, in a few numbers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from leafid.learning.backing_off import WRONG_ERROR, hierarchical_error
from leafid.pictures.taxonomy import WILDCARD, Taxonomy
from leafid.scoring.tables import Metric


@dataclass(frozen=True)
class HierarchySummary:
    """The errors of a run and the ranks of its answers."""

    #: Hierarchical error of each picture of the ground truth, sorted by picture; 1 where the run lacks it.
    errors: dict[str, float]
    #: How many answers stop at each rank of the taxonomy, from the species up; last ``"*"``.
    answered: dict[str, int]
    #: How many of those are correct as far as they go.
    correct: dict[str, int]
    #: Number of pictures that the run lacks.
    missing: int


def summarise_hierarchy(truth: Mapping[str, str], answers: Mapping[str, str], taxonomy: Taxonomy) -> HierarchySummary:
    """Score one answer for each picture of the truth, all of species of the taxonomy; other answers don't count.

    An answer is a species or a back-off such as ``Quercus *``; one that the taxonomy lacks raises a `LeafidError`.
    """
    errors: dict[str, float] = {}
    answered: Counter[str] = Counter()
    correct: Counter[str] = Counter()
    for picture, species in sorted(truth.items()):
        if picture not in answers:
            errors[picture] = WRONG_ERROR
            continue
        path = taxonomy.find_path(answers[picture])
        depth = len(path) - path.count(WILDCARD)
        rank = taxonomy.ranks[depth - 1] if depth else WILDCARD
        answered[rank] += 1
        correct[rank] += path[:depth] == taxonomy.paths[species][:depth]
        errors[picture] = hierarchical_error(species, answers[picture], taxonomy)
    ranks = [*reversed(taxonomy.ranks), WILDCARD]
    return HierarchySummary(
        errors,
        {rank: answered[rank] for rank in ranks},
        {rank: correct[rank] for rank in ranks},
        len(truth.keys() - answers.keys()),
    )


METRICS = (
    Metric(
        "hierarchical-error",
        "a wrong rank counts more when it is high or easy; 'Quercus *' costs half of a wrong species",
        hierarchical_error,
        citation="ImageCLEF 2009, Error evaluation for IRMA Medical Image Annotation, over taxa",
        command="evaluate-hierarchy",
        column="error, by plant",
        higher_is_better=False,
    ),
)
