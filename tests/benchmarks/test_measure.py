"""Benchmarks: made-up times of known ratio, and the program itself on a case."""

import json
import time

import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks.measure import measure_peak_memory, summarise_times, time_alternately


def test_load_cancels_out_of_the_ratio():
    load = np.random.default_rng(0).uniform(1, 3, (10, 7, 1))
    cost = summarise_times(load * np.array([12e-3, 1e-3]), 2.0)
    assert cost.ratio == pytest.approx(12.0)
    assert cost.ms == pytest.approx(
        1000 * np.median(np.median(load[..., 0] * 12e-3, axis=1))
    )


def test_calls_are_timed_beside_the_yardstick():
    def spend(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    times = time_alternately(
        {"long": lambda: spend(0.02)}, lambda: spend(0.005), rounds=5
    )
    assert summarise_times(times["long"][None], 0.0).ratio == pytest.approx(
        4.0, rel=0.5
    )


def test_peak_memory_counts_what_is_freed_again():
    assert 8 <= measure_peak_memory(lambda: np.ones(10**6).sum()) < 9


def test_the_program_prints_a_table_and_checks_the_baseline(
    tmp_path, monkeypatch, capsys
):
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"sample/scan/segment": 0.01}))
    monkeypatch.setattr(program, "BASELINE", baseline)
    monkeypatch.delenv("LEAFID_REAL_DATA", raising=False)
    words = ["--pictures", "1", "--rounds", "2", "--only", "sample/scan/segment"]
    assert program.main([*words, "--check"]) == 1
    shown = capsys.readouterr()
    assert "| sample/scan/segment |" in shown.out
    assert shown.err.endswith("slower than before: sample/scan/segment\n")
    assert program.main([*words, "--save-baseline"]) == 0
    assert json.loads(baseline.read_text())["sample/scan/segment"] > 0.1
