"""Families and encoders that a user names: functions and classes of modules."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import leafid
from leafid.sklearn import LeafDescriptor

MODULE = """
from collections import Counter as Count
from os import getpid

import numpy as np
from leafid.descriptors.encoding import BagOfWordsEncoder

def measure(image, blade):
    blue, green, red = image[blade].mean(axis=0)
    return {"red_share": red / (blue + green + red), "cover": np.mean(blade)}

def measure_list(image, blade):
    return [1.0]

def measure_badly(image, blade):
    return {"height": 1 / (len(image) == 100)}

ORIGINALS = {(100, 60)}

def measure_originals(image, blade):
    return {"one": 1 / (blade.shape in ORIGINALS)}

class Residuals(BagOfWordsEncoder):
    def _prepare_tables(self):
        self.n_features = self.words_.size

    def _encode(self, rows):
        differences = rows[:, None] - self.words_
        nearest = np.square(differences).sum(axis=2).argmin(axis=1)
        words = range(self.n_modes)
        sums = [differences[nearest == word, word].sum(axis=0) for word in words]
        return (np.concatenate(sums) / len(rows)).astype(np.float32)

class Unlimited(Residuals):
    def _encode(self, rows):
        return np.full(self.n_features, np.nan, np.float32)

class Tabled(Residuals):
    def list_shapes(self, length):
        return {**super().list_shapes(length), "words": (1, 1)}

class Short(Residuals):
    def _encode(self, rows):
        return np.zeros(1, np.float32)
"""


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """The name of an importable module, which is allowed.

    It differs between tests, as Python imports each only once.
    """
    name = f"{request.node.originalname}_module"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("LEAFID_ALLOW", name)
    return name


def write_recipe(folder, *lines):
    file = folder / "recipe.toml"
    file.write_text("\n".join(['types = ["scan"]', "[experts.one]", *lines]))
    return file


@pytest.fixture
def recipe(tmp_path, module):
    return write_recipe(
        tmp_path,
        'descriptor = "measures"',
        f'families = ["geometry", "{module}:measure"]',
    )


@pytest.fixture
def run_python(tmp_path):
    """Run Python in the folder with the module, which it can import there."""

    def run(*words, **variables):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
            **variables,
        }
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture
def scans(drawn):
    return leafid.read_collection(drawn).part("train").select_type("scan")


def test_a_model_measures_by_it_where_it_is_allowed(
    module, recipe, scans, tmp_path, monkeypatch
):
    family, file = f"{module}:measure", tmp_path / "own.leafid"
    model = leafid.train(scans, str(recipe), cache=tmp_path / "cache")
    (expected,) = model.identify(scans.pictures[0])
    model.save(file)
    monkeypatch.setenv("LEAFID_ALLOW", "another:measure")
    with pytest.raises(
        leafid.LeafidError,
        match=rf"own.leafid: .*{family}.*set LEAFID_ALLOW=another:measure,{family} in",
    ):
        leafid.load_model(file)
    monkeypatch.setenv("LEAFID_ALLOW", f"another:measure,{family}")
    (answer,) = leafid.load_model(file).identify(scans.pictures[0])
    assert answer.name == expected.name == scans.pictures[0].species


def test_reading_a_model_imports_nothing(recipe, scans, tmp_path, run_python):
    leafid.train(scans, str(recipe), cache=False).save(tmp_path / "own.leafid")
    (module,) = tmp_path.glob("*_module.py")
    module.write_text("from pathlib import Path; Path('imported').touch()")
    done = run_python("-m", "leafid", "info", "own.leafid", LEAFID_ALLOW="")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "LEAFID_ALLOW" in done.stderr
    assert not (tmp_path / "imported").exists()
    missing = run_python(
        "-m", "leafid", "info", "own.leafid", LEAFID_ALLOW=f"{module.stem}:measure"
    )
    assert missing.returncode == 1
    assert "found AttributeError" in missing.stderr


RECIPES = {
    "family": 'descriptor = "measures"\nfamilies = ["geometry", "leaving:measure"]',
    "encoder": 'descriptor = "dense-sift"\nencoder = "leaving:Encoder"',
}
EXPERIMENT = """
types = ["scan"]
[[recipes]]
name = "a"
base = "baseline-bow"
[recipes.expert_keys."*"]
encoder = "leaving:Encoder"
"""


@pytest.mark.parametrize("kind", [*RECIPES, "experiment"])
def test_a_recipe_runs_only_code_that_is_allowed(
    kind, cli, drawn, drawn_cache, tmp_path, monkeypatch
):
    source = tmp_path / "leaving.py"
    source.write_text(
        f"open({str(tmp_path / 'run')!r}, 'w').close()\nraise SystemExit(0)"
    )
    monkeypatch.syspath_prepend(tmp_path)
    if kind == "experiment":
        (tmp_path / "experiment.toml").write_text(EXPERIMENT)
        words = ["experiment", tmp_path / "experiment.toml", drawn]
    else:
        file = write_recipe(tmp_path, RECIPES[kind])
        words = ["crossval", drawn, "--only-type", "scan", "--recipe", file]
    words += ["--jobs", 1, "--cache", drawn_cache]

    refused = cli(*words)
    assert refused.status == 1
    assert "set LEAFID_ALLOW=sklearn,leaving:" in refused.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()

    monkeypatch.setenv("LEAFID_ALLOW", "leaving")
    failed = cli(*words)
    assert failed.status == 1
    assert failed.err.splitlines()[-1].endswith("found SystemExit: 0")
    assert (tmp_path / "run").exists()


def test_a_name_that_a_shell_would_run_is_not_advised(tmp_path, cli, drawn):
    lines = RECIPES["family"].replace("leaving", "$(reboot)")
    words = ["--only-type", "scan", "--recipe", write_recipe(tmp_path, lines)]
    outcome = cli("crossval", drawn, *words)
    assert outcome.status == 1
    assert "unknown descriptor family '$(reboot):measure'" in outcome.err
    assert "LEAFID_ALLOW" not in outcome.err


def test_columns_are_called_by_its_names(module, scans, cli, monkeypatch):
    file, family = scans.pictures[0].file, f"{module}:measure"
    image, leaf = leafid.read_image(file), leafid.segment(scans.pictures[0])
    values = leafid.describe(image, leaf, [family, "hu"])
    assert [*values][:2] == [f"{family}.red_share", f"{family}.cover"]
    row0, row1, col0, col1 = leaf.box
    assert values[f"{family}.cover"] == pytest.approx(
        leaf.blade[row0:row1, col0:col1].mean(), rel=1e-6
    )
    outcome = cli("describe", file, "--families", family, "--assume-type", "scan")
    assert (
        outcome.out.splitlines()[0]
        == f"picture,type,species,{family}.red_share,{family}.cover"
    )
    matrix = LeafDescriptor([family], "scan").fit_transform([file])
    assert matrix.tolist() == [[*values.values()][:2]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("nonsense", "found AttributeError: .*nonsense"),
        ("measure_list", "AttributeError: 'list' object has no attribute 'items'"),
        ("np", "found TypeError: it is not a function"),
        ("getpid", "found TypeError: it is not a function"),
    ],
)
def test_what_measures_nothing_is_refused_before_any_work(
    module, recipe, scans, function, message
):
    recipe.write_text(recipe.read_text().replace(":measure", f":{function}"))
    family = f"{module}:{function}"
    with pytest.raises(
        leafid.LeafidError,
        match=rf"recipe.toml: .*families: descriptor family {family}: .*{message}",
    ):
        leafid.train(scans, str(recipe))
    with pytest.raises(
        leafid.LeafidError, match="found ModuleNotFoundError: No module named 'nowhere'"
    ):
        LeafDescriptor(["nowhere:measure"]).fit(["leaf.jpg"])


def test_a_failure_costs_only_its_picture(module, scans, cli):
    outcome = cli(
        "describe",
        scans.pictures[0].file,
        "--families",
        f"{module}:measure_badly",
        "--assume-type",
        "scan",
    )
    assert outcome.status == 1
    assert f"descriptor family {module}:measure_badly: ZeroDivisionError" in outcome.err


@pytest.fixture
def encoder_recipe(tmp_path, module):
    lines = (
        'descriptor = "dense-sift"',
        "size = 64",
        "max_patches = 50",
        "modes = 4",
        "components = 6",
    )
    return write_recipe(tmp_path, f'encoder = "{module}:Residuals"', *lines)


def test_a_model_encodes_by_an_encoder_that_is_allowed(
    module, encoder_recipe, scans, tmp_path, monkeypatch
):
    encoder, file = f"{module}:Residuals", tmp_path / "own.leafid"
    model = leafid.train(scans, str(encoder_recipe), cache=tmp_path / "cache")
    (expected,) = model.identify(scans.pictures[0])
    assert len(model["scan"].identifier.scorers["one"].coefficients) % (4 * 6) == 0
    model.save(file)
    monkeypatch.delenv("LEAFID_ALLOW")
    with pytest.raises(
        leafid.LeafidError,
        match=rf"own.leafid: .*{encoder}.*set LEAFID_ALLOW={encoder} in",
    ):
        leafid.load_model(file)
    monkeypatch.setenv("LEAFID_ALLOW", encoder)
    (answer,) = leafid.load_model(file).identify(scans.pictures[0])
    assert answer.name == expected.name


def test_an_encoder_that_fails_costs_only_its_picture(
    module, encoder_recipe, scans, monkeypatch
):
    model = leafid.train(scans, str(encoder_recipe), cache=False)
    encode = importlib.import_module(module).Residuals._encode
    numbers = iter(range(3))

    def fail_at_the_second(encoder, rows):
        return encode(encoder, rows) * (np.nan if next(numbers) == 1 else 1)

    monkeypatch.setattr(f"{module}.Residuals._encode", fail_at_the_second)
    problems = [answer.problem or "" for answer in model.identify(scans.pictures[:3])]
    assert [bool(problem) for problem in problems] == [False, True, False]
    assert "Residuals: expected 24 finite numbers, found [nan" in problems[1]


def test_a_family_that_fails_on_altered_pictures_costs_no_species(
    module, recipe, scans, caplog
):
    """It does not measure the drawings without a leaf that training makes."""
    recipe.write_text(recipe.read_text().replace(":measure", ":measure_originals"))
    boxes = [leafid.segment(picture).box for picture in scans.pictures]
    shapes = {(row1 - row0, col1 - col0) for row0, row1, col0, col1 in boxes}
    importlib.import_module(module).ORIGINALS.update(shapes)
    model = leafid.train(scans, str(recipe), cache=False, jobs=1)
    assert "ZeroDivisionError" not in caplog.text
    assert {*model.species} == {picture.species for picture in scans.pictures}


def test_vectors_that_another_version_of_the_module_made_are_not_read(
    module, encoder_recipe, run_python, tmp_path
):
    code = (
        "from leafid.features.recipe import load_recipe; "
        "print(load_recipe('recipe.toml', 'scan').experts['one']"
    )
    first = run_python("-c", f"{code}.make_feature_key())").stdout
    source = tmp_path / f"{module}.py"
    source.write_text(source.read_text() + "# changed")
    assert (
        module in first != run_python("-c", f"{code}.make_feature_key())").stdout != ""
    )


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (
            "fischer",
            "expected fisher or words, or package.module:Class.*, found 'fischer'",
        ),
        ("{}", "found '.*_module'"),
        ("{}:measure", "found TypeError: it is not a class"),
        ("{}:Count", "found TypeError: it is not a class"),
        ("a;b:C", "expected fisher or words.*found 'a;b:C'"),
        ("{}:Short", r"Short: expected 12 finite numbers, found \[0.\]"),
        ("{}:Unlimited", r"Unlimited: expected 12 finite numbers, found \[nan"),
        ("{}:Long", "found AttributeError: .*Long"),
        ("{}:Tabled", "found ValueError: tables of the shapes .*'words'"),
    ],
)
def test_what_encodes_nothing_is_refused_before_any_work(
    module, encoder_recipe, scans, encoder, message
):
    encoder_recipe.write_text(
        encoder_recipe.read_text().replace(
            f"{module}:Residuals", encoder.format(module)
        )
    )
    with pytest.raises(
        leafid.LeafidError, match=rf"recipe.toml: .*encoder: .*{message}"
    ):
        leafid.train(scans, str(encoder_recipe))
