"""Scores of held-out answers, with the answers and folds that they are of."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from leafid.pictures.splitting.folds import Folds
from leafid.scoring.evaluation import Records
from leafid.scoring.reading.runs import Run
from leafid.scoring.tables import Table
from leafid.studies.cross_validation import FoldAnswers
from leafid.studies.held_out_runs import make_held_out_runs


class Study(Records):
    """The scores of held-out answers, with the answers and the folds they are of.

    Attributes
    ----------
    answers : list of FoldAnswers
        The answers to the test pictures of each fold and type: `held_out` has the
        `pictures`, the `probabilities`, float (n, n_species), of the `species`, and
        whether the species of each picture `is_known`; `model` is the model of the
        fold, where models are kept. `seed`, `fold`, `setting`, `recipe` and
        `collection` tell them apart.
    folds : Folds, or dict of Folds
        By collection and protocol for an experiment.
    diagrams : dict of str to str
        Critical difference diagrams of the ranks over several collections: SVG by
        protocol and metric.
    """

    def __init__(
        self,
        scores: Table,
        answers: Sequence[Any],
        folds: Folds | Mapping[tuple[str, str], Folds],
        further: Mapping[str, Table] | None = None,
        diagrams: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scores, further)
        self.answers = answers
        self.folds = folds
        self.diagrams = {**(diagrams or {})}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The answers by seed, as runs for `leafid.evaluate` and `leafid.convert`.

        Their ground truth is the `pictures` of the folds. There are none in an open
        world.
        """
        folds = [fold for fold in self.answers if isinstance(fold, FoldAnswers)]
        return make_held_out_runs(folds)
