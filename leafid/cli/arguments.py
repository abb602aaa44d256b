"""The options of commands, and the parser that fills an object with them.

A command has a class `Options`. Its attributes, and the attributes that it
inherits from, are made by `positional`, `option` and `switch`, with the type that the
parsed value has.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from textwrap import fill
from typing import Any, NamedTuple, NoReturn, TypeVar

from leafid.errors import UsageError
from leafid.parallel import MAX_JOBS
from leafid.pictures.picture import AcquisitionType, Collection
from leafid.pictures.reading import READERS, read_and_warn
from leafid.scoring.tables import FORMATS
from leafid.textfiles import parse_finite_number
from leafid.translation import LANGUAGES

TYPES = tuple(map(str, AcquisitionType))
T = TypeVar("T")


class _Argument(NamedTuple):
    """An argument of a command, as an attribute of its options declares it."""

    is_option: bool
    #: The group of options that exclude one another.
    group: str | None
    #: The keyword arguments of `argparse.ArgumentParser.add_argument`.
    keywords: dict[str, Any]


def positional(metavar: str, help: str, **keywords: Any) -> Any:
    """Declare a positional argument.

    `keywords` go to `argparse.ArgumentParser.add_argument`.
    """
    return _Argument(False, None, {"metavar": metavar, "help": help, **keywords})


def option(help: str, *, group: str | None = None, **keywords: Any) -> Any:
    """Declare an option, called as the attribute.

    Options with the same `group` exclude one another.
    """
    return _Argument(True, group, {"help": help, **keywords})


switch = partial(option, action="store_true")

#: How shtab completes paths, by the shell.
_COMPLETION = {"bash": "_shtab_compgen_files", "zsh": "_files"}


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps paragraphs but not examples, and leaves options out of the usage."""

    def _format_usage(self, usage: Any, actions: Any, *_: Any) -> str:
        shown = [
            action for action in actions if action.required or not action.option_strings
        ]
        self._prog += " [options]"
        return super()._format_usage(usage, shown, [], None)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            paragraph if "\n " in paragraph else fill(paragraph, width)
            for paragraph in text.split("\n\n")
        )


def suggest(word: str, words: Mapping[str, object]) -> str:
    """Return the end of a message about an unknown word: the word most like it."""
    # Dashes, which all options have, make no two of them alike.
    alike = get_close_matches(word, words, n=1, cutoff=0.7)
    return f"; did you mean {alike[0]}?" if alike else ""


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as one line that names the help, and refuses empty words."""

    def __init__(self, options: type, **keywords: Any) -> None:
        super().__init__(
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
            add_help=False,
            **keywords,
        )
        self.register("type", None, nonempty_word)
        self._options = options
        groups: defaultdict[str | None, Any] = defaultdict(
            self.add_mutually_exclusive_group, {None: self}
        )
        # The options of the command come first, then the options that it shares.
        for name in dict.fromkeys(
            name for class_ in options.__mro__ for name in vars(class_)
        ):
            argument = getattr(options, name)
            if isinstance(argument, _Argument):
                flag = f"--{name.replace('_', '-')}" if argument.is_option else name
                if "type" in argument.keywords:
                    argument.keywords.setdefault("metavar", "N")
                action = groups[argument.group].add_argument(flag, **argument.keywords)
                if not {"action", "choices", "type"} & argument.keywords.keys():
                    action.complete = _COMPLETION
        self.add_argument(
            "-h", "--help", action="help", help="show this help message and exit"
        )
        self.add_argument(
            "--debug", action="store_true", help="show the traceback of an error"
        )

    def parse(self, words: Sequence[str]) -> Any:
        """Make the options of a command line.

        A `UsageError` names the first fault.
        """
        for word in takewhile("--".__ne__, words):
            flag = word.partition("=")[0]
            is_known = not flag.startswith("-") or flag in {
                "-",
                *self._option_string_actions,
            }
            if not is_known and parse_finite_number(word) is None:
                hint = suggest(flag, self._option_string_actions)
                self.error(f"unknown option {flag}{hint} (a file: ./{word})")
        # Options may stand between positional arguments; only parse_args knows what
        # '--' means.
        parse = self.parse_args if "--" in words else self.parse_intermixed_args
        options = self._options()
        for action in self._actions:
            setattr(options, action.dest, action.default)
            # Such a list needs nothing that is listed by it.
            action.required &= "--list" not in words
        return parse(words, options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise UsageError(f"{message}; see '{self.prog} --help'")


def number_type(
    low: float,
    high: float,
    kind: type[int] | type[float] = float,
    *,
    has_zero: bool = True,
) -> Callable[[str], Any]:
    """Make an argparse type of finite or whole numbers from `low` to `high`."""
    noun = {float: "number", int: "whole number"}[kind]
    expected = f"a {noun} from {low} to {high}" + " other than 0" * (not has_zero)

    def parse(word: str) -> float:
        value = parse_finite_number(word)
        is_valid = value is not None and low <= value <= high and value == kind(value)
        if value is None or not is_valid or not (value or has_zero):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {word!r}")
        return kind(value)

    return parse


positive_int = number_type(1, 10**9, int)


def list_type(parse: Callable[[str], T]) -> Callable[[str], list[T]]:
    """Make an argparse type of values separated by commas, parsed one by one."""
    return lambda word: [parse(item) for item in word.split(",")]


positive_ints = list_type(positive_int)


def nonempty_word(word: str) -> str:
    """Refuse a word that is no path.

    URLs are refused, and the empty word of an unset variable, which would mean the
    current folder.
    """
    if not word:
        raise argparse.ArgumentTypeError(
            "expected a path or a word, found an empty word; is a variable unset?"
        )
    if word == "-" or word.lower().startswith(_URL_SCHEMES):
        raise argparse.ArgumentTypeError(
            f"expected a path, found {word!r}; leafid reads neither standard input nor "
            "addresses: save it in a file"
        )
    return word


_URL_SCHEMES = ("http://", "https://", "ftp://", "file://", "s3://")
JOBS = option(
    "worker processes; -1 is one a core, -2 one less, and so on (default: -1)",
    type=number_type(-MAX_JOBS, MAX_JOBS, int, has_zero=False),
    default=-1,
)
SEED = option(
    "seed of all random numbers (default: 0)",
    # Every random generator accepts this range.
    type=number_type(0, 2_000_000_000, int),
    default=0,
)
LANGUAGE = option(
    "language of answers and pages, and of the common names that come first (default: "
    "en)",
    choices=tuple(LANGUAGES),
    default="en",
)
CACHE = option(
    "folder of the feature cache (default: $LEAFID_CACHE, or ~/.cache/leafid)",
    metavar="DIR",
    group="cache",
)


class ReadingOptions:
    layout: str | None = option(
        "layout of the collection: %(choices)s (default: detected)",
        choices=tuple(READERS),
        metavar="LAYOUT",
    )
    metadata: str | None = option(
        "CSV table of the pictures with the column file and any of label, plant, type, "
        "author, date, latitude, longitude, collection, split (default: metadata.csv, "
        "labels.csv, annotations.csv or train.csv in the folder)",
        metavar="FILE",
    )
    label_from: str | None = option(
        "find the labels, a group or else the match, in the paths of pictures: "
        "'([a-z]+)_'",
        metavar="REGEX",
    )
    plants_from: str | None = option(
        "find the plants, whose pictures no fold separates, in the paths of pictures",
        metavar="REGEX",
    )

    def as_keywords(self) -> dict[str, Any]:
        """Return the keyword arguments of `leafid.pictures.read_collection`."""
        return {name: getattr(self, name) for name in ReadingOptions.__annotations__}


class PictureOptions(ReadingOptions):
    """Options that say how pictures are read, and which acquisition type they have."""

    assume_type: str | None = option(
        "take every picture for one of this type (default: the type in its metadata, "
        "else recognised)",
        choices=TYPES,
    )

    def read(self, paths: str | Sequence[str], *refused: type[str]) -> Collection:
        """Read a collection, and warn of its problems.

        Problems of the classes `refused` are raised.
        """
        collection = read_and_warn(paths, refused, **self.as_keywords())
        if not self.assume_type:
            return collection
        type_ = AcquisitionType(self.assume_type)
        pictures = [replace(picture, type=type_) for picture in collection.pictures]
        return replace(collection, pictures=tuple(pictures))


class UnlabelledOptions(PictureOptions):
    """Arguments that name pictures without labels, and the model to identify them."""

    pictures: list[str] = positional(
        "PICTURE", "a picture, or a folder or collection of them", nargs="+"
    )
    model: str | None = option(
        "a trained model (default: the bundled model)", metavar="MODEL"
    )

    def as_keywords(self) -> dict[str, Any]:
        """Return the options of reading.

        Only the pictures that `metadata` names are read.
        """
        return super().as_keywords() | {"only_named": True}


class TableOptions:
    format: str = option(
        "format of the tables (default: text)", choices=FORMATS, default="text"
    )
    table: int | None = option(
        "print only the Nth table (default: all; CSV holds a single one)",
        type=positive_int,
    )


class ComputingOptions:
    jobs: int = JOBS
    cluster: str | None = option(
        "run on a Dask cluster, by the tcp://HOST:PORT of its scheduler (needs: pip "
        "install distributed)",
        metavar="ADDRESS",
    )


class CacheOptions(ComputingOptions):
    """Options that say where to compute features, and where to cache them.

    `cache_limit` is in GiB.
    """

    cache: str | None = CACHE
    no_cache: bool = switch("neither use nor keep cached features", group="cache")
    cache_limit: float = option(
        "maximum size of the feature cache; the oldest features are removed first "
        "(default: 4)",
        metavar="GIB",
        type=number_type(0, 2**30, has_zero=False),
        default=4.0,
    )
