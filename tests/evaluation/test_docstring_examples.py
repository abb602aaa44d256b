import doctest
import importlib

import pytest

MODULES = [
    "leafid.evaluation.hierarchy",
    "leafid.evaluation.official",
    "leafid.evaluation.plant_task",
    "leafid.evaluation.resampling",
    "leafid.evaluation.set_scores",
    "leafid.evaluation.set_valued",
    "leafid.learning.thresholds",
    "leafid.report.tables",
    "leafid.runs.annotation2016.localised",
    "leafid.runs.imageclef2011",
    "leafid.runs.truth",
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_show_what_happens(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed
