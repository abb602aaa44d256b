"""Plain words for measured traits, for people who don't know those of botanists."""

from collections.abc import Mapping

from leafid.pages.trait_words import describe_traits

# Plain words for the botanical ones, by trait; the first one that a description has counts.
_WORDS = {
    "length_width": {
        "linear": "very narrow, like a blade of grass",
        "lanceolate": "narrow, like the head of a lance",
        "oblong": "with sides that run side by side",
        "obovate": "broadest near the tip",
        "ovate": "egg-shaped, broadest near the stalk",
        "elliptic": "broadest in the middle",
        "orbicular": "nearly round",
        "kidney-shaped": "kidney-shaped",
        "heart-shaped": "heart-shaped",
        "fan-shaped": "fan-shaped",
    },
    "lobes": {
        "palmately": "lobes, spread like the fingers of a hand",
        "pinnately": "lobes along both sides, as an oak leaf has them",
        "": "lobes",
    },
    "apex_angle": {
        "emarginate": "notched at the tip",
        "rounded": "rounded at the tip",
        "acuminate": "drawn out into a thin tip",
        "acute": "narrow at the tip",
        "obtuse": "broad at the tip",
        "": "about a right angle at the tip",
    },
    "base_angle": {
        "deeply cordate": "deeply cut in at the base",
        "cordate": "heart-shaped at the base",
        "rounded": "rounded at the base",
        "concave": "narrowing gradually into the stalk",
        "acute, straight": "wedge-shaped at the base",
        "acute": "narrow at the base",
        "obtuse": "broad at the base",
        "": "about a right angle at the base",
    },
}
# Shares that people have a word for.
_SHARES = {0.1: "a tenth", 0.2: "a fifth", 0.25: "a quarter", 1 / 3: "a third", 0.5: "half", 2 / 3: "two thirds"}
_QUARTERS = ("", " and a quarter", " and a half", " and three quarter")
# Number of teeth from which there are many.
_MANY_TEETH = 20


def describe_plainly(values: Mapping[str, float]) -> dict[str, str]:
    """Describe the same traits as `leafid.pages.trait_words.describe_traits`, by name, in words that a pupil knows."""
    return {name: _translate(name, exact, values) for name, exact in describe_traits(values).items()}


def _translate(name: str, exact: str, values: Mapping[str, float]) -> str:
    words = next((plain for term, plain in _WORDS.get(name, {}).items() if term in exact), "")
    number = round(values.get(name, 0))
    if name == "leaflets":
        count = f"{number} or more" if number > 1 else "several"
        return f"{count} leaflets on one stalk" if "compound" in exact else "a single blade"
    if name == "length_width":
        return ", ".join(filter(None, [words, _describe_length(values[name])]))
    if name == "lobes":
        return f"about {number} {words}" if "palmately" in exact else words
    if name == "teeth":
        return _describe_edge(exact, number if "or more" in exact else 0)
    return _describe_stalk(values[name]) if name == "petiole" else words


def _describe_length(ratio: float) -> str:
    side, longer, across = ("long", "longer", "wide") if ratio >= 1 else ("wide", "wider", "long")
    times = max(ratio, 1 / ratio)
    if times < 1.05:
        return "as long as wide"
    if times < 1.15:
        return f"a little {longer} than {across}"
    whole, quarters = divmod(round(4 * times), 4)
    number = f"{('one', 'two')[whole - 1]}{_QUARTERS[quarters]} times" if times < 2.9 else f"{times:.0f} times"
    return f"about {'twice' if number == 'two times' else number} as {side} as {across}"


def _describe_edge(exact: str, number: int) -> str:
    if "entire" in exact:
        return "edge smooth, without teeth"
    count = "" if not number else "many " if number >= _MANY_TEETH else "a few "
    size = "small " if "finely" in exact else "large " if "coarsely" in exact else ""
    return f"edge with {count}{size}teeth"


def _describe_stalk(ratio: float) -> str:
    if ratio < 0.08:
        return "stalk very short"
    if ratio >= 0.8:
        length = "almost as long as" if ratio < 0.95 else "about as long as" if ratio < 1.05 else "longer than"
        return f"stalk {length} the leaf"
    share = min(_SHARES, key=lambda share: abs(ratio / share - 1))
    deviation = ratio / share - 1
    about = "about" if abs(deviation) < 0.06 else "a bit more than" if deviation > 0 else "a bit less than"
    return f"stalk {about} {_SHARES[share]} as long as the leaf"
