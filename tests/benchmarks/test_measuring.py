"""The statistics of the benchmarks: made-up times of known ratio, with and without noise."""

import numpy as np
import pytest

from benchmarks.measure import (
    Cost,
    estimate_ratio_interval,
    measure_peak_memory,
    select_names,
    summarise_times,
    time_alternately,
)
from benchmarks.results import Results, compare_memory, compare_time, list_regressions, read_results, write_results
from benchmarks.running import measure_with_confirmation, select_nearest
from leafid.errors import LeafidError


def times(ratio: float, noise: float, seed: int, n_pictures: int = 10, rounds: int = 7) -> np.ndarray:
    """Times of a case that takes `ratio` times as long as the yardstick, on a machine whose load drifts."""
    random = np.random.default_rng(seed)
    load = random.uniform(1, 3, (n_pictures, rounds, 1))
    pace = np.array([ratio, 2 * ratio, 1]) * 1e-3
    return load * pace * np.exp(noise * random.standard_normal((n_pictures, rounds, 3)))


def test_load_cancels_out_of_the_ratio():
    found = summarise_times(times(12.0, 0.0, seed=1))
    # The medians of a case and of its yardstick are of the same round, for both take the same load.
    assert found.ratio == pytest.approx(12.0)
    assert found.wall_ms == pytest.approx(2 * found.ms)
    assert (found.low, found.high) == (pytest.approx(12.0, rel=0.2), pytest.approx(12.0, rel=0.2))
    assert found.n == 10


def test_the_interval_holds_the_ratio_about_as_often_as_it_says():
    held = 0
    for seed in range(40):
        low, high = estimate_ratio_interval(times(5.0, 0.1, seed), confidence=0.9)
        held += low <= 5.0 <= high
    # 36 are expected of 40; so few that fewer than 28 would come by chance once in 10,000 times.
    assert held >= 28


def test_more_rounds_tell_more():
    few, many = (np.ptp(estimate_ratio_interval(times(5.0, 0.1, 3, rounds=rounds))) for rounds in (5, 50))
    assert many < few


def test_noise_is_no_change():
    baseline = summarise_times(times(5.0, 0.1, seed=100))
    said = [compare_time(summarise_times(times(5.0, 0.1, seed)), baseline) for seed in range(30)]
    assert said.count("same") >= 28


@pytest.mark.parametrize(("factor", "expected"), [(1.3, "slower"), (0.7, "faster")])
def test_a_change_is_seen(factor, expected):
    baseline = summarise_times(times(5.0, 0.05, seed=100))
    assert {compare_time(summarise_times(times(5.0 * factor, 0.05, seed)), baseline) for seed in range(20)} == {
        expected
    }


def test_a_small_change_is_none_however_sure():
    before = Cost(1, 1, 10.0, 9.99, 10.01)
    assert compare_time(Cost(1, 1, 10.4, 10.39, 10.41), before) == "same"
    assert compare_time(Cost(1, 1, 10.6, 10.59, 10.61), before) == "slower"
    assert compare_time(before, None) == "new"


def test_memory():
    before = Cost(1, 1, 1, 1, 1, peak_mb=50.0)
    assert compare_memory(Cost(1, 1, 1, 1, 1, peak_mb=54.0), before) == "same"
    assert compare_memory(Cost(1, 1, 1, 1, 1, peak_mb=56.0), before) == "more"
    assert compare_memory(Cost(1, 1, 1, 1, 1, peak_mb=44.0), before) == "less"
    assert compare_memory(Cost(1, 1, 1, 1, 1), before) == "new"
    # Of little memory ten per cent are nothing.
    small = Cost(1, 1, 1, 1, 1, peak_mb=0.5)
    assert compare_memory(Cost(1, 1, 1, 1, 1, peak_mb=1.0), small) == "same"
    assert list_regressions({"a": before, "b": before, "c": small}, {"a": small, "b": before}) == ["a"]


def test_only_what_both_measurements_show_is_a_change():
    before, first, second = (Cost(1, 1, ratio, ratio, ratio) for ratio in (10.0, 14.0, 10.2))
    assert select_nearest(before, first, second) is second
    measured = []

    def measure(names):
        measured.append(names)
        return {name: first if name == "a" and len(measured) == 1 else before for name in names}

    assert measure_with_confirmation(measure, ["a", "b"], {"a": before}) == {"a": before, "b": before}
    assert measured == [["a", "b"], ["a"]]


def test_calls_are_timed_in_turns_with_the_yardstick():
    calls = []
    found = time_alternately(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, lambda: calls.append("y"), rounds=3
    )
    assert {name: own.shape for name, own in found.items()} == {"a": (3, 3), "b": (3, 3)}
    assert all((own > 0).all() for own in found.values())
    turns = [name for before, name in zip(["", *calls], calls, strict=False) if name != before]
    assert turns[-12:] == ["y", "a", "y", "b"] * 3


def test_memory_at_the_peak_counts_what_is_freed_again():
    found = measure_peak_memory(lambda: np.ones(10**6).sum())
    assert 8 <= found < 9


def test_cases_are_chosen_by_part_or_pattern():
    names = ["real/scan/decode", "real/scan/fast/whole", "sample/scan/decode"]
    assert select_names(names, []) == names
    assert select_names(names, ["decode"]) == [names[0], names[2]]
    assert select_names(names, ["real/*", "sample"]) == names
    assert select_names(names, ["scan*"]) == []


def test_results_come_back_and_are_added_to(tmp_path):
    file = tmp_path / "baseline.json"
    assert read_results(file) == Results()
    first = Results({"a/x": Cost(1.5, 2, 3, 2.5, 3.5, 7.25, 4)}, {"a": {"cores": "2"}}, {"a/scan": "4 pictures"})
    write_results(first, file)
    assert read_results(file) == first
    assert first.select_comparable({"a/scan": "4 pictures", "b/scan": "9"}) == first
    assert first.select_comparable({}) == first
    assert first.select_comparable({"a/x": "?", "a/scan": "5 pictures"}) == first
    other = Results({"a/scan/read": first.costs["a/x"], "command/start": first.costs["a/x"]}, {}, first.pictures)
    assert list(other.select_comparable({"a/scan": "5 pictures"}).costs) == ["command/start"]
    assert list(other.update(Results({"b/y": other.costs["command/start"]}, {}, {"a/scan": "5 pictures"})).costs) == [
        "command/start",
        "b/y",
    ]
    both = first.update(Results({"b/y": Cost(1, 1, 1, 1, 1)}, {"b": {}}))
    assert list(both.costs) == ["a/x", "b/y"]
    assert both.pictures == first.pictures


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"costs": {"a": {"mss": 1}}}'])
def test_another_file_is_no_baseline(tmp_path, text):
    file = tmp_path / "baseline.json"
    file.write_text(text)
    with pytest.raises(LeafidError, match=r"expected results of scripts/benchmark"):
        read_results(file)
