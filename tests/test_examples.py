"""The examples run as their page says, on a part of the sample."""

import ast
import io
import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.drawing.collection import copy_sample

EXAMPLES = Path(__file__).parents[1] / "examples"
#: What each prints, among other lines.
OUTPUT = {
    "name_leaves.py": ("examples/leaves/fig.jpg: Sure: Ficus carica (Common Fig), "),
    "one_tree.py": "together: ",
    "own_descriptor.py": "geometry and redness: ",
    "score_and_compare.py": "metric    run A  run B ",
    "table_for_a_paper.sh": "\\toprule\nrun & pictures & S & top-1 & top-5 ",
    "study_metric.py": (
        "0.25        0.250    0.200    0.050    0.000    0.200    0.000\n"
    ),
    "few_pictures.sh": "scan  3 pictures (c) ",
}


def test_every_example_is_run_and_listed():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {
        file.name for file in EXAMPLES.iterdir() if file.suffix in {".py", ".sh"}
    } == set(OUTPUT)
    for file in EXAMPLES.iterdir():
        assert (
            file.name == "README.md"
            or f"({file.name}{'/README.md' * file.is_dir()})" in page
        )


def test_every_leaf_names_its_author_and_source():
    rows = (EXAMPLES / "leaves" / "README.md").read_text(encoding="utf-8").splitlines()
    pictures = [
        file.name for file in (EXAMPLES / "leaves").iterdir() if file.suffix != ".md"
    ]
    assert len(pictures) == 3
    for name in pictures:
        (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
        assert "INRA" in row
        assert "`Train/" in row


def run_cell(source, names):
    """Run a cell as a notebook does.

    The outputs are what it prints, and the value of its last expression.
    """
    *statements, last = ast.parse(source).body
    printed, outputs = io.StringIO(), []
    with redirect_stdout(printed):
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    if printed.getvalue():
        outputs.append(
            {
                "name": "stdout",
                "output_type": "stream",
                "text": printed.getvalue().splitlines(True),
            }
        )
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(True)
        outputs.append(
            {
                "data": data,
                "execution_count": None,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def without_numbers(outputs):
    """Keep the words of outputs: numbers and pictures may differ by a rounding.

    So may the order of species with less than 0.1%, and the word for an answer that is
    about as likely as this word allows.
    """
    words = re.sub("Sure: |Probably ", "", json.dumps(outputs))
    words = re.sub(r"<tr>(?:(?!</tr>).)*&lt;(?:(?!</tr>).)*</tr>", "", words)
    return re.sub(r"base64,[\w+/=]+|(?:over |under )?[\d.,-]+|\s", "", words)


def test_the_notebook_shows_what_its_cells_give(monkeypatch):
    """The variable that renews the output of pages renews that of the notebook."""
    file = EXAMPLES / "leaves.ipynb"
    monkeypatch.chdir(EXAMPLES)
    stored, new, names = (
        json.loads(file.read_text(encoding="utf-8")),
        json.loads(file.read_text(encoding="utf-8")),
        {},
    )
    for number, cell in enumerate(
        [cell for cell in new["cells"] if cell["cell_type"] == "code"], 1
    ):
        cell["outputs"], cell["execution_count"] = (
            run_cell("".join(cell["source"]), names),
            number,
        )
    if os.environ.get("LEAFID_UPDATE_README"):
        file.write_text(
            json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        stored = new
    assert without_numbers(stored) == without_numbers(new)
    assert (
        json.dumps(stored).count("base64,") == 2
    )  # of the leaves alone: other pictures are not to be committed
    assert file.stat().st_size < 500_000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with the scans of 2 of the 12 species of the sample, under its name."""
    folder = tmp_path_factory.mktemp("data")
    copy_sample(folder / "sample", n_species=2, n_plants=6, types="Scan")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUT)
def test_examples_run_on_the_sample(name, tmp_path, data, monkeypatch, capfd):
    (tmp_path / "data").symlink_to(data)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    if name.endswith(".py"):
        monkeypatch.setattr(sys, "argv", [str(EXAMPLES / name)])
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        monkeypatch.setenv(
            "PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        )
        # Beside other tests, workers would only take time to start.
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
        subprocess.run([EXAMPLES / name], check=True)
    assert OUTPUT[name] in capfd.readouterr().out
