import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
insert_tables = runpy.run_path(str(DOCS / "recipe_keys.py"))["insert_tables"]


def test_the_tables_of_keys_are_those_of_the_code():
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert insert_tables(page) == page, "run: python docs/recipe_keys.py docs/formats.md"


def test_tables_show_defaults_as_a_recipe_writes_them():
    page = insert_tables("<!-- keys: recipe -->\n<!-- end -->\n<!-- keys: expert -->\noutdated\n<!-- end -->\n")
    assert "outdated" not in page
    for row in (
        "| `types` | acquisition types that it serves, trained together | required |",
        "| `summary` | what the recipe is, in a sentence | empty |",
        "| `map` | feature map before the classifier: `none` or `chi2` | `none` |",
        "| `position` | weight of a patch's position and size beside its descriptor | 0 |",
        "| `centre_types` | subtract the mean of each acquisition type, where several are trained on | false |",
    ):
        assert row in page
