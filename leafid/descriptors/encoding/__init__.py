"""From a set of local features to one vector: learn on many pictures, apply to one."""

from leafid.descriptors.encoding.fisher import FisherEncoder
from leafid.descriptors.encoding.words import BagOfWordsEncoder

Encoder = FisherEncoder | BagOfWordsEncoder
#: The encoders by the name that recipes have for them.
ENCODERS: dict[str, type[Encoder]] = {"fisher": FisherEncoder, "words": BagOfWordsEncoder}

__all__ = ["ENCODERS", "BagOfWordsEncoder", "Encoder", "FisherEncoder"]
