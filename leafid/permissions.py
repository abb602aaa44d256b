"""Permits code and estimators in models that are not leafid's, by the user's word."""

import os

from leafid.errors import LeafidError

#: The environment variable with these names, separated by commas.
ALLOWED = "LEAFID_ALLOW"
#: The name that allows the estimators in models.
ESTIMATORS = "sklearn"


def check_allowed(name: str, reason: str) -> None:
    """Raise a `LeafidError` unless the user allows a name or the module in it.

    The error begins with a reason.
    """
    entries = os.environ.get(ALLOWED, "").split(",")
    allowed = [entry.strip() for entry in entries if entry.strip()]
    if {name, name.partition(":")[0]}.isdisjoint(allowed):
        value = ",".join([*allowed, name])
        raise LeafidError(
            f"{reason}; if you trust it, set {ALLOWED}={value} in the environment"
        )
