"""Run files of the ImageCLEF 2016 annotation task: five subtasks, a line a picture or document."""

from leafid.runs.annotation2016.files import (
    AnnotationRun,
    AnnotationTruth,
    Known,
    annotation_line,
    examine_annotation_run,
    read_annotation_run,
    read_annotation_truth,
    write_annotation_run,
)
from leafid.runs.annotation2016.lists import read_list, read_sizes
from leafid.runs.annotation2016.results import Concept, Place, Result, ScoredBox, Subtask

__all__ = [
    "AnnotationRun",
    "AnnotationTruth",
    "Concept",
    "Known",
    "Place",
    "Result",
    "ScoredBox",
    "Subtask",
    "annotation_line",
    "examine_annotation_run",
    "read_annotation_run",
    "read_annotation_truth",
    "read_list",
    "read_sizes",
    "write_annotation_run",
]
