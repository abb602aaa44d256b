"""Says why a picture is hard to judge, and how to take a better one."""

from leafid.segmentation.condition import Condition

# At most 3 % of the scans of ImageCLEF 2011 are beyond a bound, those that touch the border, and 2 % of all pictures on
# sheets of that, the Swedish and the UCI set. Beyond it are 99 % of those that were blurred (with a standard
# deviation of 6 pixels of 800), all that were darkened (to 0.15) or reduced (to 50 pixels), and 91 % of those that were
# cut in half. Needles are no reason, as measures of the outline tell only a quarter of them from leaves.
_MIN_SHARPNESS, _MIN_LIGHTNESS, _MAX_CUT, _MIN_SIDE = 0.6, 0.25, 0.1, 64


def explain_doubt(condition: Condition) -> tuple[str, ...]:
    """List what makes a picture hard to judge, each with what to do, the most important first."""
    reasons = {
        f"it shows {condition.n_leaves:.0f} leaves: photograph one": condition.n_leaves
        > 1,
        "it is dark: photograph it in more light": condition.lightness < _MIN_LIGHTNESS,
        "it is blurred: hold the camera still": condition.sharpness < _MIN_SHARPNESS,
        "the leaf is cut off by the border: photograph all of it": condition.cut
        > _MAX_CUT,
        f"the leaf is small, {condition.side:.0f} pixels: go closer": condition.side
        < _MIN_SIDE,
    }
    return tuple(reason for reason, is_true in reasons.items() if is_true)
