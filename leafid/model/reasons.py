"""Says why a picture is hard to judge, and how to take a better one."""

from leafid.model.answer import Decision
from leafid.segmentation.condition import Condition

# At most 3 % of the scans of ImageCLEF 2011 are beyond a bound, those that touch the border, and 2 % of all pictures on
# sheets of that, the Swedish and the UCI set. Beyond it are 99 % of those that were blurred (with a standard
# deviation of 6 pixels of 800), all that were darkened (to 0.15) or reduced (to 50 pixels), and 91 % of those that were
# cut in half. Needles are no reason, as measures of the outline tell only a quarter of them from leaves.
_MIN_SHARPNESS, _MIN_LIGHTNESS, _MAX_CUT, _MIN_SIDE = 0.6, 0.25, 0.1, 64
# Where the sentence of an answer says so, the page has a button for it.
_CUT_OUT = "or cut it out"
# What to do about a picture that is rejected, though nothing else may be wrong with it.
_ADVICE = {
    "no-leaf": "if it shows a leaf, that may be too small: go so close that only leaf "
    f"and sheet are seen, {_CUT_OUT}",
    "unclear": "leafid can't tell whether it shows a leaf: lay the leaf on a plain light "
    f"sheet, and go so close that only these are seen, {_CUT_OUT}",
}


def explain_doubt(
    condition: Condition, decision: Decision = "species"
) -> tuple[str, ...]:
    """List what makes a picture hard to judge, each with what to do, the most important first."""
    if decision == "no-leaf":
        # What was measured is no leaf.
        condition = condition._replace(
            side=_MIN_SIDE, n_leaves=1, cut=0, may_be_several=0
        )
    several = f"it shows {condition.n_leaves:.0f} leaves: photograph one, {_CUT_OUT}"
    merged = f"perhaps several leaves that touch: photograph one, {_CUT_OUT}"
    cut = "what leafid takes for the leaf is cut off by the border: show all of it"
    small = f"the leaf is small, {condition.side:.0f} pixels: go closer, {_CUT_OUT}"
    problems = {
        several: condition.n_leaves > 1,
        merged: condition.may_be_several > 0,
        "it is dark: photograph it in more light": condition.lightness < _MIN_LIGHTNESS,
        "it is blurred: hold the camera still": condition.sharpness < _MIN_SHARPNESS,
        f"{cut}, {_CUT_OUT}": condition.cut > _MAX_CUT,
        small: condition.side < _MIN_SIDE,
    }
    reasons = [problem for problem, is_true in problems.items() if is_true]
    if decision in _ADVICE and (decision == "no-leaf" or not reasons):
        reasons.append(_ADVICE[decision])
    return tuple(reasons)
