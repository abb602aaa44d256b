"""Says why a picture is hard to judge, and how to take a better one."""

from collections.abc import Iterable

from leafid.model.judgement import Decision
from leafid.segmentation.condition import Condition
from leafid.translation import translate

# At most 3 % of the scans of ImageCLEF 2011 are beyond a bound, as they touch the
# border, and 2 % of all pictures on sheets of this, the Swedish and the UCI set. Beyond
# it are 99 % of blurred pictures (with a standard deviation of 6 pixels of 800), all
# darkened (to 0.15) or reduced ones (to 50 pixels), and 91 % of halves of pictures.
# Needles are no reason, as measures of the outline distinguish only a quarter of them
# from leaves.
_MIN_SHARPNESS = 0.6
_MIN_LIGHTNESS = 0.25
_MAX_CUT = 0.1
_MIN_SIDE = 64


def explain_doubt(
    condition: Condition, decision: Decision = "species"
) -> tuple[str, ...]:
    """List what makes a picture hard to judge.

    Parameters
    ----------
    condition : Condition
    decision : str
        The decision of the answer, as in `leafid.model.judgement.Judgement`.

    Returns
    -------
    tuple of str
        The most important reason first. Each says what to do, in the current language.
    """
    if decision == "no-leaf":
        # What was measured is no leaf.
        condition = condition._replace(
            side=_MIN_SIDE, n_leaves=1, cut=0, may_be_several=0
        )
    several = translate(
        "leafid sees {number} leaves: photograph one, or cut it out",
        number=int(condition.n_leaves),
    )
    merged = translate(
        "perhaps several leaves that touch: photograph one, or cut it out"
    )
    cut = translate(
        "what leafid takes for the leaf is cut off by the border: "
        "show all of it, or cut it out"
    )
    small = translate(
        "the leaf is small, {side} pixels: go closer, or cut it out",
        side=round(condition.side),
    )
    dark, blurred = _list_other_reasons()
    problems = {
        several: condition.n_leaves > 1,
        merged: condition.may_be_several > 0,
        dark: condition.lightness < _MIN_LIGHTNESS,
        blurred: condition.sharpness < _MIN_SHARPNESS,
        cut: condition.cut > _MAX_CUT,
        small: condition.side < _MIN_SIDE,
    }
    reasons = [problem for problem, is_true in problems.items() if is_true]
    # Ground, light, size, or being needles may hide a leaf: what is right is named, as
    # it isn't known which of them is wrong.
    if decision == "no-leaf":
        reasons.append(
            translate(
                "if it shows a leaf (not needles), lay all of it alone on a plain "
                "light sheet, in even light, and go so close that only leaf and sheet "
                "are seen, or cut it out"
            )
        )
    return tuple(reasons)


def advise_cutting(reasons: Iterable[str]) -> bool:
    """Tell whether a reason advises to cut the leaf out of the picture.

    Only darkness and blur don't.
    """
    return not set(reasons) <= set(_list_other_reasons())


def _list_other_reasons() -> tuple[str, str]:
    return (
        translate("it is dark: photograph it in more light"),
        translate("it is blurred: hold the camera still"),
    )
