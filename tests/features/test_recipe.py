import json
import runpy
from pathlib import Path

import pytest
from msgspec import structs, to_builtins

from leafid.errors import LeafidError
from leafid.features.recipe import (
    Expert,
    choose_types_to_train,
    group_by_training,
    list_recipes,
    load_recipe,
    parse_recipe,
)
from leafid.model.bundled import find_bundled_model
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType, Picture
from tests.drawing.collection import TYPES

SCAN = AcquisitionType.SCAN
SHEET = AcquisitionType.SCAN_LIKE
PHOTO = AcquisitionType.PHOTO
LOCAL = {"descriptor": "dense-sift"}
MEASURES = {"descriptor": "measures", "families": ["geometry"]}


def make_recipe(expert=LOCAL, **others):
    return parse_recipe(
        {"types": ["scan"], "experts": {"one": expert}, **others}, "r.toml"
    )


def get_error(expert=LOCAL, **others):
    with pytest.raises(LeafidError) as caught:
        make_recipe(expert, **others)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("r.toml: ")
    return message


def test_missing_keys_have_defaults():
    recipe = make_recipe()
    assert recipe.experts == {"one": Expert(descriptor="dense-sift")}
    assert recipe.types == recipe.training_types == (SCAN,)
    assert recipe.summary == ""


#: For each key of an expert, what is expected and values that are not.
WRONG = {
    "descriptor": ("expected ", ["sift", "", 3, None, ["dense-sift"]]),
    **dict.fromkeys(
        ("view", "symmetry", "encoder", "map", "classifier", "trust"),
        ("expected ", ["x", 1, ["leaf"], True]),
    ),
    "size": ("expected a whole number", [31, 4097, 100.0, "100", True, -1, 10**400]),
    "scales": ("expected a whole number", [0, 17, False]),
    "max_patches": ("expected a whole number", [-1, 10**7, 0.5, "all"]),
    "modes": ("expected a whole number", [0, 65537, 1.5, {}]),
    "components": ("expected a whole number", [0, 129, []]),
    "position": ("expected a number", [-0.1, 10**400, "1", True]),
    "classifier_options": ("expected ", [1, "C", ["C"], {"C": 1.0}]),
    "regularisation": ("expected a number", [0, -1.0, {}, [[1.0]]]),
    "species_balance": ("expected a number", [-0.01, 4.01, None]),
    "plant_balance": ("expected a number", [-0.01, 4.01, "1"]),
    "centre_types": ("expected true or false", [0, 1, "true"]),
    "coverage": ("expected a number", [-0.1, 1.1, "0.5"]),
    "focus": ("expected ", [-0.1, 101, "0.2"]),
    "codebook_types": ("expected ", ["scan", [1], ["xray"], 3, None, [["scan"]]]),
    "families": ("expected ", [["geometry"], "geometry", [1], 3, {}]),
}


def test_every_key_is_tested():
    assert set(Expert.__struct_encode_fields__) == set(WRONG)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (key, value, expected)
        for key, (expected, values) in WRONG.items()
        for value in values
    ],
)
def test_every_value_is_checked(key, value, expected):
    message = get_error({**LOCAL, key: value})
    assert message.startswith("r.toml: experts.one")
    assert key in message
    assert expected in message


GEOMETRI = MEASURES | {"families": ["geometri"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"experts": {}}, "experts: expected a table"),
        ({"experts": {"a b": LOCAL}}, "experts, key: expected text"),
        (
            {"defaults": {"mode": 3}},
            "experts.one, key: expected centre_types, classifier, ",
        ),
        (
            {"types": ["scan", "photo"], "training_types": ["scan"]},
            "training_types: expected photo among them, found ['scan']",
        ),
        (
            {"expert": {"descriptor": "measures"}},
            "experts.one: families: expected at least one descriptor family (geometry, "
            "",
        ),
        (
            {"expert": LOCAL | {"families": ["hu", "geometry"]}},
            "experts.one: families: expected none for 'dense-sift', found hu, "
            "geometry; remove them, or use the descriptor 'measures'",
        ),
        (
            {"expert": GEOMETRI},
            "experts.one: families: unknown descriptor family 'geometri'; there are ",
        ),
        (
            {"expert": LOCAL | {"classifier_options": {"C": 1}}},
            "experts.one: classifier_options: expected none for 'ridge'",
        ),
        (
            {"expert": {"descriptor": "outline-sift", "view": "picture"}},
            "experts.one: view: 'outline-sift' needs the leaf's outline",
        ),
    ],
)
def test_malformed_recipes_are_named(changes, message):
    assert get_error(**changes).startswith(f"r.toml: {message}")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("typo", ""),
        ("RidgeClasifier", "; did you mean sklearn.linear_model.RidgeClassifier"),
    ],
)
def test_a_mistyped_classifier_says_what_is_allowed_and_suggests_similar_names(
    name, suggestion
):
    classes = "a class of scikit-learn such as sklearn.svm.LinearSVC"
    allowed = (
        f"ridge (not in a pipeline), {classes}, or an entry point of leafid_classifiers"
    )
    message = get_error({**LOCAL, "classifier": name})
    assert message.startswith(
        f"r.toml: experts.one: classifier: expected {allowed}, found "
        f"'{name}'{suggestion}"
    )
    assert bool(suggestion) == ("did you mean" in message)


def test_defaults_apply_to_experts_without_own_values():
    defaults = {**LOCAL, "modes": 3, "trust": "segmentation"}
    data = {
        "types": ["scan"],
        "defaults": defaults,
        "experts": {"first": {}, "second": {"modes": 4}},
    }
    expert = Expert(descriptor="dense-sift", modes=3, trust="segmentation")
    assert parse_recipe(data, "r.toml").experts == {
        "first": expert,
        "second": structs.replace(expert, modes=4),
    }


@pytest.mark.parametrize("name", list_recipes())
@pytest.mark.parametrize("type_", TYPES)
def test_shipped_recipes_are_valid_and_survive_json(name, type_):
    recipe = load_recipe(name, type_)
    assert type_ in recipe.types
    assert recipe.summary
    assert parse_recipe(json.loads(json.dumps(to_builtins(recipe))), "json") == recipe


def test_the_bundled_model_was_trained_with_the_default_recipe():
    for type_, type_model in Model.read(find_bundled_model()).types.items():
        assert type_model.identifier.recipe == load_recipe("default", type_)


def test_a_recipe_from_a_folder_or_a_file(tmp_path):
    file = tmp_path / "sheets.toml"
    file.write_text('types = ["scan"]\n[experts.one]\ndescriptor = "dense-sift"\n')
    assert (
        load_recipe(str(tmp_path), SCAN)
        == load_recipe(str(file), SCAN)
        == make_recipe()
    )
    with pytest.raises(
        LeafidError, match="expected one file that serves photo, found types scan"
    ):
        load_recipe(str(tmp_path), PHOTO)
    (tmp_path / "more.toml").write_bytes(file.read_bytes())
    with pytest.raises(
        LeafidError, match="expected one file that serves scan, found types scan, scan"
    ):
        load_recipe(str(tmp_path), SCAN)


@pytest.mark.parametrize("name", ["defualt", "no/such/folder", "", "a\0b"])
def test_a_recipe_that_is_not_there(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LeafidError, match=r"no such recipe; expected one of .*default"):
        load_recipe(name, SCAN)


def test_the_feature_key_covers_only_settings_that_change_vectors():
    def key(**values):
        return make_recipe({**LOCAL, **values}).experts["one"].make_feature_key()

    training = {
        "classifier": "sklearn.naive_bayes.GaussianNB",
        "classifier_options": {},
        "regularisation": 3.0,
        "map": "chi2",
        "trust": "segmentation",
    }
    training.update(species_balance=0.0, plant_balance=0.0)
    training.update(codebook_types=["scan"], centre_types=True)
    patches = {
        "view": "picture",
        "size": 300,
        "scales": 2,
        "coverage": 0.5,
        "symmetry": "turns",
    }
    patches.update(descriptor="edge-sift", max_patches=7, focus=0.3)
    encoder = {"encoder": "words", "modes": 3, "components": 4, "position": 1.0}
    assert {*training, *patches, *encoder, "families"} == set(
        Expert.__struct_encode_fields__
    )
    for name, value in training.items():
        assert key(**{name: value}) == key()
    for name, value in {**patches, **encoder}.items():
        assert key(**{name: value}) != key()
    measures = Expert(
        descriptor="measures", families=("hu",), size=99
    ).make_feature_key()
    assert measures == '{"families": ["hu"]}'


def test_keys_of_cached_vectors_stay_as_they_were():
    assert Expert(
        descriptor="edge-sift", view="upright", modes=8, position=1.0
    ).make_feature_key() == (
        '{"components": 62, "coverage": 0.1, "descriptor": "edge-sift", "encoder": '
        '"fisher", "focus": 0.0, "max_patches": 0, "modes": 8, "position": 1.0, '
        '"scales": 5, "size": 400, "symmetry": "none", "view": "upright"}'
    )


def test_types_to_train(tmp_path, caplog):
    pictures = [
        Picture(tmp_path / str(n), type_)
        for n, type_ in enumerate([PHOTO, SCAN, SCAN, None])
    ]
    assert choose_types_to_train(["default"], pictures) == [SCAN, PHOTO]
    assert choose_types_to_train(["default"], pictures, SCAN) == [SCAN]
    with pytest.raises(
        LeafidError,
        match="expected pictures of type scan-like to train on, found photo, scan",
    ):
        choose_types_to_train(["default"], pictures, SHEET)
    sheets = tmp_path / "sheets.toml"
    text = '[experts.one]\ndescriptor = "dense-sift"\n'
    sheets.write_text(f'types = ["scan", "scan-like"]\n{text}')
    assert not caplog.messages
    for types, consequence in (("", "left out"), ('"photo"', "only learned from")):
        if types:
            training = f'training_types = ["scan", "scan-like", {types}]\n'
            sheets.write_text(f'types = ["scan", "scan-like"]\n{training}{text}')
        assert choose_types_to_train([str(sheets)], pictures) == [SCAN]
        assert caplog.messages == [
            f"recipe {sheets} serves scan, scan-like only: 1 of 4 pictures are of type "
            f"photo and are {consequence}"
        ]
        caplog.clear()
    # What it doesn't serve at all is an error of the recipe.
    assert choose_types_to_train([str(sheets)], pictures[:1]) == [PHOTO]


def test_types_of_one_recipe_are_grouped():
    recipes = {type_: load_recipe("default", type_) for type_ in (SCAN, PHOTO, SHEET)}
    assert group_by_training(recipes) == [[SCAN, SHEET], [PHOTO]]
    changed = {SCAN: recipes[SCAN], SHEET: structs.replace(recipes[SHEET], jittered=0)}
    assert group_by_training(changed) == [[SCAN], [SHEET]]
    assert group_by_training({}) == []


DOCS = Path(__file__).parents[2] / "docs"
insert_tables = runpy.run_path(str(DOCS / "recipe_keys.py"))["insert_tables"]


def test_the_tables_of_keys_are_those_of_the_code():
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert insert_tables(page) == page, (
        "run: python docs/recipe_keys.py docs/formats.md"
    )
