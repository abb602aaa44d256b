"""Run files: read, write and check them; one module for each format."""

from leafid.runs.checks import KnownNames
from leafid.runs.imageclef2011 import examine_run, find_name_problem, format_run_line, read_run, write_run
from leafid.runs.run import Prediction, Run

__all__ = [
    "KnownNames",
    "Prediction",
    "Run",
    "examine_run",
    "find_name_problem",
    "format_run_line",
    "read_run",
    "write_run",
]
