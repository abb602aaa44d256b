"""The ids, concepts, sizes and boxes that a run may name, read from lists."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from leafid.errors import LeafidError
from leafid.tasks.annotation2016.results import Concept, Result, Subtask
from leafid.textfiles import LineProblems, parse_whole_number, read_text


@dataclass(frozen=True)
class Known:
    """What lines may name; None allows everything."""

    #: The pictures or documents.
    ids: frozenset[str] | None = None
    #: The concepts of subtask 1.
    concepts: frozenset[str] | None = None
    #: (width, height) in pixels of all pictures of subtask 1.
    sizes: Mapping[str, tuple[int, int]] | None = None
    #: Ids of the boxes given for each picture of subtask 3.
    boxes: Mapping[str, frozenset[int]] | None = None
    #: The pictures that subtask 4 chooses from.
    illustrations: frozenset[str] | None = None

    def find_problems(self, subtask: Subtask, identity: str, result: Result) -> Iterator[str]:
        """Yield "expected …, found …" for everything in a result that isn't known."""
        if subtask is Subtask.CONCEPTS:
            yield from self._find_concept_problems(identity, cast(Sequence[Concept], result))
        elif subtask is Subtask.SELECTION and self.boxes is not None:
            given = self.boxes.get(identity, frozenset())
            for box in cast(Sequence[int], result):
                if box not in given:
                    yield f"expected a box that is given for {identity}, found {box}"
        elif subtask is Subtask.ILLUSTRATION and self.illustrations is not None:
            for picture in cast(Sequence[str], result):
                if picture not in self.illustrations:
                    yield f"expected a picture of the collection, found {picture!r}"

    def _find_concept_problems(self, identity: str, concepts: Sequence[Concept]) -> Iterator[str]:
        size = None if self.sizes is None else self.sizes.get(identity)
        if self.sizes is not None and size is None:
            yield f"expected a picture whose size is given, found {identity!r}"
        for name, boxes in concepts:
            if self.concepts is not None and name not in self.concepts:
                yield f"expected a concept of the list, found {name!r}"
            if size is not None:
                problems = (box.find_problem(size) for box, _ in boxes)
                yield from (problem for problem in problems if problem)


def read_list(path: str | os.PathLike[str]) -> frozenset[str]:
    """Read ids or concepts, one per line."""
    words = frozenset(line.strip() for line in read_text(path).splitlines()) - {""}
    if not words:
        raise LeafidError(f"{path}: expected one name per line, found none")
    return words


def read_sizes(path: str | os.PathLike[str]) -> dict[str, tuple[int, int]]:
    """Read the sizes of pictures in pixels, ``id width height`` per line; blank lines are ignored."""
    sizes: dict[str, tuple[int, int]] = {}
    with LineProblems(path) as problems:
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            words = line.split()
            if not words:
                continue
            width, height = map(parse_whole_number, words[1:]) if len(words) == 3 else (None, None)
            if not width or not height:
                problems.add(number, f"expected an id, a width and a height above 0, found {line!r}")
            elif problems.check_unique(number, "every id", words[0]):
                sizes[words[0]] = width, height
        if not sizes and not problems:
            problems.add(None, "expected lines 'id width height', found none")
    return sizes
