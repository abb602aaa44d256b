"""The settings of classifiers, which are the keys of recipes for them.

The comments of keys are Markdown: docs/recipe_keys.py makes the tables of docs/formats.md from them.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

_Exponent = Annotated[float, Meta(ge=0, le=4)]


class ClassifierSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How species are learned from an expert's vectors."""

    #: feature map before the classifier: `none` or `chi2`
    feature_map: Literal["none", "chi2"] = msgspec.field(name="map", default="none")
    #: `ridge`, `linear-svm`, `lda` or `nearest-mean` (of the pictures of a species)
    classifier: Literal["ridge", "linear-svm", "lda", "nearest-mean"] = "ridge"
    #: penalty of ridge, inverse of C of the SVM, shrinkage of LDA
    regularisation: Annotated[float, Meta(ge=1e-12, le=1e12)] = 0.1
    #: above 0, softmax regression on this many principal components of the training vectors is trained beside the
    #: classifier; held-out plants weigh the two, and both become one linear classifier
    softmax_components: Annotated[int, Meta(ge=0, le=4096)] = 0
    #: a picture's weight is the number of pictures of its species to the power of minus this; 0: all weigh the same
    species_balance: _Exponent = 0.5
    #: likewise by the number of pictures of its plant (those of one acquisition type)
    plant_balance: _Exponent = 0.5
    #: subtract the mean of each acquisition type, where several are trained on
    centre_types: bool = False
