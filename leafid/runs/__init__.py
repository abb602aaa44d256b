"""Run files: read, write and check them; one module per format."""

from leafid.runs.checks import Known
from leafid.runs.imageclef2011 import examine_run, read_run, run_line, write_run
from leafid.runs.run import Prediction, Run

__all__ = ["Known", "Prediction", "Run", "examine_run", "read_run", "run_line", "write_run"]
