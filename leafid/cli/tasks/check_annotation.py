"""Check run files of the ImageCLEF 2016 annotation task, and list their problems.

At most 20 problems are listed of each file.

A line is '[subtask] [id] [results]', in ASCII:

  1 picture concept [conf:]WxH+LEFT+TOP,... concept ...  100 concepts, 100 boxes each
  2 picture A sentence.
  3 picture 0,2,5                                        ids of the boxes selected
  4 document picture,picture,...                         at most 100, best first
  5 document latitude longitude                          degrees

examples:
  leafid check-annotation run.txt
  leafid check-annotation --pictures ids.txt --concepts concepts.txt subtask1.txt
  leafid check-annotation --illustrations images.txt teaser1.txt
"""

from leafid.cli.arguments import option, positional
from leafid.cli.outputs import Console
from leafid.errors import LeafidError
from leafid.grouping import count_noun
from leafid.tasks.annotation2016.files import AllowedNames, read_annotations, read_list


class KnownOptions:
    pictures: str | None = option(
        "ids of all pictures or documents, one per line", metavar="FILE"
    )
    concepts: str | None = option(
        "subtask 1: all concepts, one per line", metavar="FILE"
    )
    illustrations: str | None = option(
        "subtask 4: ids of the pictures to choose from, one per line", metavar="FILE"
    )

    def read(self) -> AllowedNames:
        """Read the lists."""
        files = (self.pictures, self.concepts, self.illustrations)
        return AllowedNames(*(read_list(file) if file else None for file in files))


class Options(KnownOptions):
    runs: list[str] = positional("RUN", "run files", nargs="+")


def run(options: Options, console: Console) -> int:
    names = options.read()
    status = 0
    for path in options.runs:
        try:
            annotations = read_annotations(path, names)
            console.print(
                f"{path}: good: subtask {annotations.subtask.value}, "
                f"{count_noun(len(annotations.results), 'line')}"
            )
        except LeafidError as error:
            console.print(str(error))
            status = 1
    return status
