"""Malformed data of every kind in TOML and JSON end in a line that names the key."""

from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta, Struct, field

from leafid.errors import LeafidError
from leafid.schema import convert, parse_toml, read_json


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Leaf(Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    lobes: Annotated[int, Meta(ge=1, le=50)] = 3
    width: Annotated[float, Meta(ge=0)] = 1.0
    margin: Literal["entire", "toothed"] = "entire"
    colours: tuple[Colour, ...] = ()
    feature_map: str = field(default="none", name="map")

    def __post_init__(self) -> None:
        if self.kind == "needle":
            raise ValueError("expected a leaf, found a needle")


class Twig(Struct, frozen=True, forbid_unknown_fields=True):
    leaves: dict[Annotated[str, Meta(pattern="^[a-z]+$")], Leaf] = {}
    others: list[Leaf] = []
    bud: Leaf | None = None
    box: tuple[int, int] = (0, 1)


LEAF = {"kind": "simple"}


def test_data_become_objects_with_defaults() -> None:
    twig = parse_toml(
        '[leaves.a]\nkind = "simple"\nwidth = 2\ncolours = ["red"]', Twig, "twig.toml"
    )

    assert twig == Twig({"a": Leaf("simple", width=2.0, colours=(Colour.RED,))})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "twig: expected a table, found []"),
        ({"leaves": {"a": LEAF, "b": 3}}, "twig: leaves.b: expected a table, found 3"),
        (
            {"leaves": {"a": LEAF, "b": {}}},
            "twig: leaves.b.kind: expected text, found nothing",
        ),
        ({"leaves": {"A": LEAF}}, "twig: leaves, key: expected text matching regex"),
        (
            {"leaves": {"a": LEAF, "b": LEAF | {"lobes": 51}}},
            "twig: leaves.b.lobes: expected a whole number",
        ),
        (
            {"others": [LEAF | {"width": -0.5}]},
            "twig: others[0].width: expected a number",
        ),
        (
            {"others": [LEAF | {"width": float("nan")}]},
            "twig: expected finite numbers and text of Unicode characters",
        ),
        (
            {"others": [LEAF | {"margin": "lobed"}]},
            "twig: others[0].margin: expected entire or toothed, found 'lobed'",
        ),
        (
            {"others": [LEAF | {"colours": ["red", "blue"]}]},
            "twig: others[0].colours[1]: expected red or green, found 'blue'",
        ),
        (
            {"others": [LEAF | {"lobe": 3}]},
            "twig: others[0], key: expected colours, kind, lobes, map, margin or "
            "width, found 'lobe'",
        ),
        (
            {"bud": LEAF | {"feature_map": "chi2"}},
            "twig: bud, key: expected colours, kind, lobes, ",
        ),
        ({"bud": LEAF | {"map": []}}, "twig: bud.map: expected text, found []"),
        ({"bud": {"kind": "needle"}}, "twig: bud: expected a leaf, found a needle"),
        ({"box": [1]}, "twig: box: expected a list of length 2, found [1]"),
        (
            {"leaves": {"a": {"kind": "\ud800"}}},
            "twig: expected finite numbers and text of Unicode characters",
        ),
    ],
)
def test_malformed_data_are_named(data: Any, message: str) -> None:
    with pytest.raises(LeafidError) as caught:
        convert(data, Twig, "twig")

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text",
    ["leaves", "[[leaves]]", "[leaves", "box = [1, 1e999]", "others = " + 10**4 * "["],
)
def test_malformed_toml_is_refused(text: str) -> None:
    with pytest.raises(LeafidError, match=r"^twig\.toml: "):
        parse_toml(text, Twig, "twig.toml")


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([*Colour, "entire"]),
    lambda values: (
        st.lists(values)
        | st.dictionaries(
            st.sampled_from([*Leaf.__struct_encode_fields__, "a", "x.y"]), values
        )
    ),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*Twig.__struct_fields__, "other"]), _values))
def test_no_data_lead_to_another_error(data: Any) -> None:
    with suppress(LeafidError):
        assert isinstance(convert(data, Twig, "twig"), Twig)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "simple",\n}', r"leaf.json:2: expected JSON"),
        ("[" * 100_000, r"leaf.json: expected JSON"),
        ('{"kind": "simple", "width": 1e999}', r"leaf.json: expected finite numbers"),
    ],
)
def test_malformed_json_is_refused(tmp_path, text, message) -> None:
    (tmp_path / "leaf.json").write_text(text, "utf-8")
    with pytest.raises(LeafidError, match=message):
        read_json(tmp_path / "leaf.json", Leaf)
