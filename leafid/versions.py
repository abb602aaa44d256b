"""The versions of computations, which are parts of keys in the feature cache.

Raise a version with each change of its computation, so that no older value in the cache
is used.
"""

#: Of the vectors of all experts, and of whatever else is measured on pictures.
FEATURE_VERSION = 35
#: Of codebooks.
CODEBOOK_VERSION = 3
#: Of the features by which acquisition types are recognised.
TYPE_VERSION = 3
#: Of the same features of a leaf that is drawn in other surroundings.
SURROUNDINGS_VERSION = 1
#: Of the traits that a model learns of its species.
TRAIT_VERSION = 5
#: Of the drawings of pictures without a leaf.
DRAWING_VERSION = 7
