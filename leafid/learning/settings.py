"""The settings of classifiers, which are the keys of recipes for them.

The comments of keys are Markdown: docs/recipe_keys.py makes the tables of docs/formats.md from them.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

_EXPECTED_NAME = "expected ridge, a name such as sklearn.svm.LinearSVC, or an entry point of leafid_classifiers, "
_Exponent = Annotated[float, Meta(ge=0, le=4)]


class ClassifierSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How species are learned from an expert's vectors."""

    #: feature map before the classifier: `none` or `chi2`
    feature_map: Literal["none", "chi2"] = msgspec.field(name="map", default="none")
    #: `ridge`; or a classifier of scikit-learn by its full name, such as `sklearn.svm.LinearSVC`, or an entry point of
    #: the group `leafid_classifiers` of an installed package
    classifier: str = "ridge"
    #: parameters of that classifier, such as `{ C = 1.0 }`; none for `ridge`
    classifier_options: dict[str, Any] = {}
    #: penalty of `ridge`
    regularisation: Annotated[float, Meta(ge=1e-12, le=1e12)] = 0.1
    #: above 0, softmax regression on this many principal components of the training vectors is trained beside a linear
    #: classifier; held-out plants weigh the two, and both become one linear classifier
    softmax_components: Annotated[int, Meta(ge=0, le=4096)] = 0
    #: a picture's weight is the number of pictures of its species to the power of minus this; 0: all weigh the same
    species_balance: _Exponent = 0.5
    #: likewise by the number of pictures of its plant (those of one acquisition type)
    plant_balance: _Exponent = 0.5
    #: subtract the mean of each acquisition type, where several are trained on
    centre_types: bool = False

    def __post_init__(self) -> None:
        if self.classifier == "ridge":
            if self.classifier_options:
                raise ValueError("classifier_options: expected none for 'ridge', which has a regularisation")
            return
        from leafid.learning.estimators import check_estimator

        try:
            check_estimator(self.classifier, self.classifier_options)
        except ValueError as error:
            # Where the name is wrong, similar names may follow it.
            expected, wrong_name, similar = str(error).partition(f"found {self.classifier!r}")
            expected = _EXPECTED_NAME if wrong_name else expected
            raise ValueError(f"classifier: {expected}{wrong_name}{similar}") from None
        if self.softmax_components and not self.is_linear:
            raise ValueError(f"softmax_components: expected 0 beside {self.classifier}, which is not linear")

    @property
    def is_linear(self) -> bool:
        """Whether scores are a linear function of the mapped vectors."""
        if self.classifier == "ridge":
            return True
        from leafid.learning.estimators import is_linear

        return is_linear(self.make_estimator())

    def make_estimator(self) -> Any:
        """Make the classifier of scikit-learn."""
        from leafid.learning.estimators import make_estimator

        return make_estimator(self.classifier, self.classifier_options, seed=0)
