"""The settings of classifiers, which are the keys of recipes for them.

The comments of keys are Markdown: docs/recipe_keys.py makes the tables of
docs/formats.md from them.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

_Exponent = Annotated[float, Meta(ge=0, le=4)]


class ClassifierSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How species are learned from an expert's vectors."""

    #: feature map before the classifier: `none` or `chi2`
    feature_map: Literal["none", "chi2"] = msgspec.field(name="map", default="none")
    #: `ridge`; or a classifier of scikit-learn by its full name, such as
    #: `sklearn.svm.LinearSVC`, or an entry point of the group `leafid_classifiers` of
    #: an installed package
    classifier: str = "ridge"
    #: parameters of that classifier, such as `{ C = 1.0 }`; none for `ridge`
    classifier_options: dict[str, Any] = {}
    #: penalty of `ridge`, and of learning further species with `--extend`
    regularisation: Annotated[float, Meta(ge=1e-12, le=1e12)] = 0.1
    #: a picture's weight is the number of pictures of its species to the power of minus
    #: this; 0: all weigh the same
    species_balance: _Exponent = 0.5
    #: likewise by the number of pictures of its plant (of one acquisition type)
    plant_balance: _Exponent = 0.5
    #: subtract the mean of each acquisition type, where several are trained on
    centre_types: bool = False

    def check_classifier(self) -> None:
        """Raise a `ValueError` when the classifier or its options are not valid."""
        if self.classifier == "ridge":
            if self.classifier_options:
                raise ValueError(
                    "classifier_options: expected none for 'ridge', which has a "
                    "regularisation"
                )
            return
        # scikit-learn takes a second to import.
        from leafid.learning.classifiers.estimators import check_estimator

        try:
            check_estimator(self.classifier, self.classifier_options)
        except ValueError as error:
            raise ValueError(f"classifier: {error}") from None
