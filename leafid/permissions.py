"""What isn't leafid's, and is used only where the user allows it by its name: code, and the estimators in models."""

import os

from leafid.errors import LeafidError

#: The environment variable with these names, separated by commas.
ALLOWED = "LEAFID_ALLOW"
#: The name that allows the estimators in models.
ESTIMATORS = "sklearn"


def check_allowed(name: str, reason: str) -> None:
    """Raise a `LeafidError`, which begins with a reason, unless the user allows a name or the module in it."""
    entries = os.environ.get(ALLOWED, "").split(",")
    allowed = [entry.strip() for entry in entries if entry.strip()]
    if {name, name.partition(":")[0]}.isdisjoint(allowed):
        value = ",".join([*allowed, name])
        raise LeafidError(
            f"{reason}; if you trust it, set {ALLOWED}={value} in the environment"
        )
