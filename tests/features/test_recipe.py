import json
from dataclasses import replace

import pytest

from leafid.errors import LeafidError
from leafid.features.recipe import Expert, LocalPatches, Measures, choose_types_to_train, group_by_training
from leafid.features.recipe_reader import EXPERT_KEYS, list_recipes, load_recipe, parse_recipe
from leafid.pictures.picture import AcquisitionType, Picture

SCAN = AcquisitionType.SCAN
LOCAL = {"descriptor": "dense-sift"}
MEASURES = {"descriptor": "measures", "families": ["geometry"]}


def make_recipe(expert=LOCAL, **others):
    return parse_recipe({"experts": {"one": expert}, **others}, SCAN, "r.toml")


def get_error(expert=LOCAL, **others):
    with pytest.raises(LeafidError) as caught:
        make_recipe(expert, **others)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("r.toml: ")
    return message


def test_missing_keys_have_defaults():
    recipe = make_recipe()
    assert recipe.experts == {"one": Expert(LocalPatches("dense-sift"))}
    assert recipe.training_types == (SCAN,)
    assert recipe.summary == ""


NAN, INFINITE = float("nan"), float("inf")
WRONG = {
    **dict.fromkeys(
        ("view", "symmetry", "encoder", "map", "classifier", "trust"), ("expected one of ", ["x", 1, ["leaf"], True])
    ),
    "size": ("expected a whole number from 32 to 4096", [31, 4097, 100.0, "100", True, -1]),
    "cell": ("expected a whole number from 2 to 64", [1, 65, "4", 4.0]),
    "scales": ("expected a whole number from 1 to 16", [0, 17, False]),
    "max_patches": ("expected a whole number from 0 to 1000000", [-1, 10**7, 0.5, "all"]),
    "modes": ("expected a whole number from 1 to 65536", [0, 65537, 1.5]),
    "components": ("expected a whole number from 1 to 128", [0, 129, []]),
    "position": ("expected a number from 0 to 1000", [-0.1, NAN, INFINITE, 10**400, "1", True]),
    "regularisation": ("expected a number from 1e-12 to 1e12", [0, -1.0, NAN, INFINITE, {}]),
    "softmax_components": ("expected a whole number from 0 to 4096", [-1, 4097, 1.0, "all", True]),
    "softmax_regularisation": ("expected a number from 1e-12 to 1e12", [0, -1.0, NAN, INFINITE]),
    "species_balance": ("expected a number from 0 to 4", [-0.01, 4.01, NAN, None]),
    "plant_balance": ("expected a number from 0 to 4", [-0.01, 4.01, INFINITE, "1"]),
    "centre_types": ("expected true or false", [0, 1, "true"]),
    "coverage": ("expected a number from 0 to 1", [-0.1, 1.1, "0.5", NAN]),
    "max_coverage": ("expected a number from 0 to 1", [-0.1, 1.1, True, NAN]),
    "focus": ("expected 0, or a number from 0.01 to 100", [-0.1, 0.001, 101, "0.2", NAN]),
    "codebook_types": ("expected ", ["scan", [1], ["xray"], 3, None]),
    "families": ("only 'measures' has families", [["geometry"]]),
}


def test_every_key_is_tested():
    # The descriptor has tests of its own.
    assert set(EXPERT_KEYS) - {"descriptor"} == set(WRONG)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [(key, value, expected) for key, (expected, values) in WRONG.items() for value in values],
)
def test_every_value_is_checked(key, value, expected):
    message = get_error({**LOCAL, key: value})
    assert message.startswith(f"r.toml: [experts.one]: {key}: ")
    assert expected in message


def test_coverage_is_at_most_max_coverage():
    message = get_error({**LOCAL, "coverage": 0.6, "max_coverage": 0.5})
    assert message == "r.toml: [experts.one]: coverage: expected at most max_coverage, 0.5, found 0.6"


def test_outlines_are_not_of_whole_pictures():
    message = get_error({**LOCAL, "descriptor": "outline-sift", "view": "picture"})
    assert message.endswith("view: 'outline-sift' needs the leaf's outline; expected 'leaf' or 'upright'")


def test_defaults_apply_to_experts_without_own_values():
    recipe = parse_recipe(
        {"defaults": {**LOCAL, "modes": 3, "trust": "segmentation"}, "experts": {"first": {}, "second": {"modes": 4}}},
        SCAN,
        "r.toml",
    )
    expert = Expert(LocalPatches("dense-sift", modes=3), trust="segmentation")
    assert recipe.experts == {"first": expert, "second": expert.with_keys(modes=4)}


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        ({"modes": 0}, "modes: expected a whole number from 1 to 65536, found 0"),
        ({"mode": 3}, "unknown key 'mode'; did you mean 'modes'?"),
        (3, "expected a table, found 3"),
    ],
)
def test_defaults_are_checked(defaults, expected):
    message = get_error(defaults=defaults)
    assert expected in message
    assert message.startswith("r.toml: [defaults]: ")


def test_default_families_apply_to_measures_only():
    experts = {"one": LOCAL, "two": {"descriptor": "measures"}}
    recipe = parse_recipe({"defaults": {"families": ["hu"]}, "experts": experts}, SCAN, "r.toml")
    assert recipe.experts == {"one": Expert(LocalPatches("dense-sift")), "two": Expert(Measures(("hu",)))}


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        ([], "expected a list of descriptor families, found []"),
        ("geometry", "expected a list of descriptor families, found 'geometry'"),
        (["geometri"], "did you mean 'geometry'"),
        (["geometry", "geometry"], "geometry"),
        ([1], "'1'"),
        (3, "expected a list of descriptor families, found 3"),
    ],
)
def test_families_are_checked(families, expected):
    assert expected in get_error({"descriptor": "measures", "families": families})


def test_measures_need_families():
    assert "families is missing" in get_error({"descriptor": "measures"})


@pytest.mark.parametrize("table", [{}, {"view": "leaf"}])
def test_a_descriptor_is_needed(table):
    assert "descriptor is missing; expected one of measures, dense-sift" in get_error(table)


@pytest.mark.parametrize("descriptor", ["sift", "", 3, None, ["dense-sift"]])
def test_descriptors_are_checked(descriptor):
    assert "descriptor: expected one of measures, dense-sift" in get_error({"descriptor": descriptor})


@pytest.mark.parametrize("table", ["dense-sift", 1, [LOCAL], None])
def test_an_expert_is_a_table(table):
    assert "[experts.one]: expected a table, found" in get_error(table)


@pytest.mark.parametrize("experts", [{}, [], "local", None, 1])
def test_experts_are_needed(experts):
    assert "expected at least one table [experts.NAME]" in get_error(experts=experts)
    with pytest.raises(LeafidError, match=r"expected at least one table \[experts"):
        parse_recipe({}, SCAN, "r.toml")


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "é", "a\n"])
def test_names_of_experts_are_plain(name):
    with pytest.raises(LeafidError, match="expected a name of letters, digits"):
        parse_recipe({"experts": {name: LOCAL}}, SCAN, "r.toml")


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("clasifier", "did you mean 'classifier'?"),
        ("Size", "did you mean 'size'?"),
        ("zzz", "expected cell, centre_types"),
    ],
)
def test_unknown_keys_of_an_expert(key, hint):
    message = get_error({**LOCAL, key: 1})
    assert f"[experts.one]: unknown key {key!r}; {hint}" in message


def test_unknown_keys_of_a_recipe():
    assert "unknown key 'training_type'; did you mean 'training_types'?" in get_error(training_type=["scan"])
    assert (
        "unknown key 'zzz'; expected codebook_pictures, codebooks, composited, composited_weight, defaults"
        in get_error(zzz=1)
    )


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("scan", "expected a list of acquisition types, found 'scan'"),
        ([1], "expected a list of acquisition types, found [1]"),
        (["scann"], "found 'scann'"),
        (["photo"], "expected 'scan' among them"),
        ([], "expected 'scan' among them"),
    ],
)
def test_training_types_are_checked(types, expected):
    message = get_error(training_types=types)
    assert message.startswith("r.toml: training_types: ")
    assert expected in message


@pytest.mark.parametrize("number", [0, -1, 1.5, "600", True])
def test_the_number_of_codebook_pictures_is_checked(number):
    assert "codebook_pictures: expected a whole number of 1 or more, found" in get_error(codebook_pictures=number)


@pytest.mark.parametrize("key", ["jittered", "composited"])
@pytest.mark.parametrize("number", [-1, 101, 1.5, "2", True])
def test_the_number_of_augmented_pictures_is_checked(key, number):
    assert f"{key}: expected a whole number from 0 to 100, found" in get_error(**{key: number})


@pytest.mark.parametrize("key", ["jittered_weight", "composited_weight"])
@pytest.mark.parametrize("weight", [0, -1, 101, "1", True])
def test_the_weight_of_augmented_pictures_is_checked(key, weight):
    assert f"{key}: expected a number from 0.01 to 100, found" in get_error(**{key: weight})


@pytest.mark.parametrize("side", [31, 4097, "800", 1.5, True])
def test_the_longest_side_is_checked(side):
    assert "longest_side: expected a whole number from 32 to 4096, found" in get_error(longest_side=side)


@pytest.mark.parametrize("summary", [1, [], {}])
def test_the_summary_is_a_text(summary):
    assert "summary: expected a text, found" in get_error(summary=summary)


def test_whole_numbers_stand_for_numbers():
    assert make_recipe({**LOCAL, "position": 1, "plant_balance": 0}).experts["one"].features.position == 1.0


@pytest.mark.parametrize("name", list_recipes())
@pytest.mark.parametrize("type_", list(AcquisitionType))
def test_shipped_recipes_are_valid_and_survive_json(name, type_):
    recipe = load_recipe(name, type_)
    assert recipe.type == type_
    assert recipe.summary
    assert parse_recipe(json.loads(json.dumps(recipe.to_dict())), type_, "json") == recipe


@pytest.mark.parametrize("name", list_recipes())
def test_scans_and_scan_likes_of_shipped_recipes_are_trained_together(name):
    """A key changed in the file of one type alone would part them, and nothing would say so."""
    together = [SCAN, AcquisitionType.SCAN_LIKE]
    assert group_by_training({type_: load_recipe(name, type_) for type_ in together}) == [together]


def test_the_default_recipe_is_shipped():
    assert "default" in list_recipes()


def test_a_recipe_from_a_folder_or_a_file(tmp_path):
    file = tmp_path / "scan.toml"
    file.write_text('[experts.one]\ndescriptor = "dense-sift"\n')
    assert load_recipe(str(tmp_path), SCAN) == load_recipe(str(file), SCAN) == make_recipe()


@pytest.mark.parametrize("name", ["defualt", "no/such/folder", "", "a\0b"])
def test_a_recipe_that_is_not_there(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LeafidError, match=r"no such recipe; expected one of .*default"):
        load_recipe(name, SCAN)


def test_a_folder_without_the_type(tmp_path):
    with pytest.raises(LeafidError, match=r"scan\.toml: no such recipe"):
        load_recipe(str(tmp_path), SCAN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[experts.one]\ndescriptor = dense-sift\n", "not valid TOML: .*line 2"),
        (b"[experts.one\n", "not valid TOML: .*line 1"),
        (b"summary = '\xff'\n", "expected UTF-8 text"),
        (b"a = " + b"[" * 20000, "not valid TOML"),
        (b"", "expected at least one table"),
    ],
)
def test_a_file_that_is_no_recipe(text, expected, tmp_path):
    file = tmp_path / "scan.toml"
    file.write_bytes(text)
    with pytest.raises(LeafidError, match=f"scan.toml(:1)?: {expected}") as caught:
        load_recipe(str(file), SCAN)
    assert "\n" not in str(caught.value)


def test_the_feature_key_covers_only_settings_that_change_vectors():
    def key(**values):
        return Expert.from_keys(**{**LOCAL, **values}).features.make_feature_key()

    training = {"classifier": "lda", "regularisation": 3.0, "map": "chi2", "trust": "segmentation"}
    training.update(species_balance=0.0, plant_balance=0.0, softmax_components=9, softmax_regularisation=2.0)
    training.update(codebook_types=(SCAN,), centre_types=True)
    patches = {"view": "picture", "size": 300, "cell": 6, "scales": 2, "coverage": 0.5, "symmetry": "turns"}
    patches.update(descriptor="dense-chroma-sift", max_patches=7, focus=0.3, max_coverage=0.8)
    encoder = {"encoder": "words", "modes": 3, "components": 4, "position": 1.0}
    assert {*training, *patches, *encoder, "families"} == set(EXPERT_KEYS)
    for name, value in training.items():
        assert key(**{name: value}) == key()
    for name, value in {**patches, **encoder}.items():
        assert key(**{name: value}) != key()
    assert key(descriptor="measures", families=("hu",), size=99) == Measures(("hu",)).make_feature_key()
    assert Measures(("geometry",)).make_feature_key() != Measures(("hu",)).make_feature_key()


def test_types_to_train(tmp_path):
    pictures = [Picture(tmp_path / str(n), type_) for n, type_ in enumerate([AcquisitionType.PHOTO, SCAN, SCAN, None])]
    assert choose_types_to_train(pictures) == [SCAN, AcquisitionType.PHOTO]
    assert choose_types_to_train(pictures, SCAN) == [SCAN]
    with pytest.raises(LeafidError, match="expected pictures of type scan-like to train on, found photo, scan"):
        choose_types_to_train(pictures, AcquisitionType.SCAN_LIKE)
    with pytest.raises(LeafidError, match="none of a known type"):
        choose_types_to_train([], SCAN)


def test_types_with_equal_training_are_grouped():
    scan, sheet, photo = (load_recipe("default", type_) for type_ in AcquisitionType)
    recipes = {recipe.type: recipe for recipe in (scan, photo, sheet)}
    assert group_by_training(recipes) == [[scan.type, sheet.type], [photo.type]]
    other = {scan.type: scan, sheet.type: replace(sheet, jittered=sheet.jittered + 1)}
    assert group_by_training(other) == [[scan.type], [sheet.type]]
    assert group_by_training({}) == []
