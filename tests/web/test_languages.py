"""Every message has a translation in every language, and no translation is left."""

import ast
import csv
import re
from html import unescape
from itertools import product
from pathlib import Path

import pytest

import leafid
from leafid.descriptors.registry import FAMILIES, LOCAL_DESCRIPTORS
from leafid.features.recipe import list_recipes, load_recipe
from leafid.model.answer import LEVELS, NO_NAMES, SURE_TAXA
from leafid.model.held_out import HELD_OUT_METRICS
from leafid.pages.field_guide import HELD_OUT, SPECIES_COLUMNS, TAKEN_FOR
from leafid.pages.opinions import VIEWS
from leafid.pages.trait_statements import read_titles
from leafid.pictures.header import READABLE_FORMATS
from leafid.pictures.names import read_common_names
from leafid.pictures.picture import AcquisitionType
from leafid.translation import (
    LANGUAGES,
    format_number,
    read_catalogue,
    translate,
    using_language,
)
from leafid.web.rendering import list_script_messages

PACKAGE = Path(leafid.__file__).parent
LITERAL = re.compile(r'translate\("((?:[^"\\]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{\w*(?::[^}]*)?\}")
OTHERS = [language for language in LANGUAGES if language != "en"]


def list_code_messages():
    """List the messages that the code translates where they stand."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            # The nouns of limits of picture files are translated there.
            place = {"translate": 0, "_limit": 2}.get(getattr(node.func, "id", ""))
            arguments = node.args[place:] if place is not None else []
            if arguments and isinstance(arguments[0], ast.Constant):
                yield arguments[0].value


def list_template_messages():
    for file in PACKAGE.glob("*/templates/*"):
        for message in LITERAL.findall(file.read_text(encoding="utf-8")):
            yield message.replace("\\'", "'")


def list_table_messages():
    """List the messages that stand in tables, of files and of the code."""
    with (PACKAGE / "pages" / "trait_words.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            yield from (row["botanical"], row["plain"])
    yield from (row["forms"] for row in read_common_names().values() if row["forms"])
    yield from (trait.title for trait in read_titles().values())
    yield from ("neither", "against both", "Not Found", "Method Not Allowed")
    yield READABLE_FORMATS
    yield from map(str, AcquisitionType)
    yield from (family.replace("_", " ") for family in FAMILIES)
    yield from (descriptor.summary for descriptor in LOCAL_DESCRIPTORS.values())
    yield from (*LEVELS.values(), *SURE_TAXA.values(), *NO_NAMES.values())
    for recipe, type_ in product(list_recipes(), AcquisitionType):
        yield from load_recipe(recipe, type_).experts
    yield from (*VIEWS.values(), *HELD_OUT_METRICS)
    yield from (*SPECIES_COLUMNS, HELD_OUT, TAKEN_FOR)


@pytest.fixture(scope="module")
def messages():
    lists = (list_code_messages, list_template_messages, list_table_messages)
    return {*list_script_messages()}.union(*(list_() for list_ in lists))


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_each_message_once_and_no_other_line(language, messages):
    with (PACKAGE / "languages" / f"{language}.csv").open(encoding="utf-8") as stream:
        (heading, *rows) = csv.reader(stream)
    assert heading == ["english", language]
    keys = [english for english, _ in rows]
    assert sorted(messages - {*keys}) == []
    assert sorted({*keys} - messages) == []
    assert len(keys) == len({*keys})


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_values_of_its_message_and_can_be_an_attribute(language):
    for message, translation in read_catalogue(language).items():
        assert translation == translation.strip() != ""
        assert sorted(PLACEHOLDER.findall(translation)) == sorted(
            PLACEHOLDER.findall(message)
        ), message
        assert not set('"<>&') & {*translation}, message


@pytest.mark.parametrize("language", OTHERS)
def test_no_page_has_a_message_in_english(language, make_client, leaves, model, drawn):
    client = make_client(language=language)
    html = {"Accept": "text/html"}
    pictures = [("pictures", (leaf.name, leaf.read_bytes())) for leaf in leaves]
    pages = {
        "/": client.get("/").text,
        "/guide": client.get("/guide").text,
        "/nothing": client.get("/nothing", headers=html).text,
        "pictures": client.post("/explain", files=pictures, headers=html).text,
        "tree": client.post(
            "/explain", files=pictures, data={"together": "1"}, headers=html
        ).text,
    }
    differing = [
        message
        for message, translation in read_catalogue(language).items()
        if message != translation and " " in message and "{" not in message
    ]
    for name, page in pages.items():
        # The page holds the messages of scripts as keys of their translations.
        text = re.sub(r'data-words="[^"]*"|lang="en">[^<]*<', "", page)
        text = unescape(text)
        assert [message for message in differing if message in text] == [], name


def test_there_are_only_these_languages():
    with (
        pytest.raises(leafid.LeafidError, match="expected one of en, fr, de"),
        leafid.using_language("es"),
    ):
        pass


def test_numbers_are_written_as_in_the_language():
    texts = {}
    for language in LANGUAGES:
        with using_language(language):
            texts[language] = translate("over {share}", share=format_number(0.5, ".1%"))
    assert texts == {
        "en": "over 50.0%",
        "fr": "plus de 50,0\N{NO-BREAK SPACE}%",
        "de": "über 50,0\N{NO-BREAK SPACE}%",
    }


def test_a_file_that_can_not_be_read_is_reported_in_a_language(
    cli, drawn_model, tmp_path
):
    # Of many pictures, worker processes report.
    for index in range(18):
        (tmp_path / f"{index}.jpg").write_bytes(b"PK\3\4")
    options = ("--model", drawn_model, "--jobs", 2, "--language", "fr")
    outcome = cli("predict", tmp_path, *options)
    assert "7.jpg: une image JPEG, PNG, " in outcome.err
    assert "une archive a été trouvée" in outcome.err
    assert "expected" not in outcome.err


def test_an_explanation_is_printed_in_a_language(cli, drawn_model, leaves):
    outcome = cli("explain", leaves[0], "--model", drawn_model, "--language", "de")
    assert "if both are true" in cli("explain", leaves[0], "--model", drawn_model).out
    assert "wenn beides zutrifft" in outcome.out
    assert "seine eigene Antwort" in outcome.out
    assert "\N{NO-BREAK SPACE}%" in outcome.out
