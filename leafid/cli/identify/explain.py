"""Explain the answer to a picture: its leaf, traits, and reasons for the species.

For each picture, explain prints the answer in words, the traits of the leaf with their
numbers, the probabilities that the answer's is made of, what each expert of the model
says and its share of the answer, and the traits in which the first species and its
look-alike differ, with the ranges of both. A trait is left out where it isn't sure, as
in a photo of leaves on the tree.

With --format json, it prints the same and the outline for programs, as
leafid.Explanation.to_dict gives them.

With --output, it writes a page with the same and the picture with its outline, petiole,
tip and base, and the most similar training pictures that the model keeps. The page is a
single file that needs no network.

examples:
  leafid explain my-leaf.jpg
  leafid explain my-leaf.jpg other-leaf.jpg --output explained
"""

from leafid.cli.arguments import LANGUAGE, UnlabelledOptions, option
from leafid.cli.outputs import Console, check_output
from leafid.features.loader import FeatureLoader
from leafid.files import write_text
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.pages.explaining import explain_answer
from leafid.pages.rendering import render_page

FILE_NAME = "explanation.html"


class Options(UnlabelledOptions):
    output: str | None = option(
        f"the folder to write {FILE_NAME} to", metavar="DIR", group="form"
    )
    format: str = option(
        "text (default) or json", choices=("text", "json"), default="text", group="form"
    )
    language: str = LANGUAGE


def run(options: Options, console: Console) -> int:
    """Explain the pictures; return 1 when any could not be read."""
    if options.output:
        check_output(options.output, options.pictures, file=FILE_NAME)
    model = Model.read(options.model or find_bundled_model()).in_language(
        options.language
    )
    collection = options.read(options.pictures)
    loader = FeatureLoader()
    explanations = (
        explain_answer(model, answer)
        for answer in model.predict(collection.pictures, loader)
        if answer.problem is None
    )
    if options.format == "json":
        console.print_json([explanation.to_dict() for explanation in explanations])
    elif options.output:
        if complete := list(explanations):
            file = f"{options.output}/{FILE_NAME}"
            write_text(file, render_page("explanations.html", explanations=complete))
            console.print(file)
    else:
        for number, explanation in enumerate(explanations):
            if number:
                console.print()
            text = render_page("explanation.txt", explanation=explanation)
            console.print(text.rstrip())
    return int(bool(loader.unreadable) or collection.is_incomplete)
