"""Choices that commands copy, so that their help is quick, against where they come from."""

import pytest

from leafid.cli.scoring import compare, evaluate
from leafid.console import arguments
from leafid.evaluation.summary import GROUPS
from leafid.metrics.plant_task import list_plant_metrics
from leafid.pictures import READERS, AcquisitionType


def test_types():
    assert tuple(map(str, AcquisitionType)) == arguments.TYPES


def test_layouts():
    assert set(arguments.LAYOUTS) == set(READERS)


def test_groups():
    assert evaluate._GROUPS == GROUPS


def test_metrics_that_runs_are_compared_by():
    assert [metric.name for metric in list_plant_metrics(())] == list(compare._METRICS)


@pytest.mark.parametrize("command", ["predict", "segment", "compare"])
def test_help_tells_what_no_number_of_processes_means(cli, command):
    assert "-1 is one a core, -2 one less" in " ".join(cli(command, "--help").out.split())


@pytest.mark.parametrize("command", ["predict", "train", "crossval"])
def test_a_store_and_none_contradict_each_other(cli, tmp_path, command):
    output = [] if command == "crossval" else ["--output", tmp_path / "output"]
    found = cli(command, tmp_path, *output, "--cache", tmp_path / "store", "--no-cache")
    assert found.status == 2
    assert "argument --no-cache: not allowed with argument --cache" in found.err
    assert list(tmp_path.iterdir()) == []
