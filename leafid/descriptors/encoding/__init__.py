"""From a set of local features to one vector: learn on many pictures, apply to one."""

from leafid.descriptors.encoding.fisher import FisherEncoder
from leafid.descriptors.encoding.visual_words import BagOfWordsEncoder, VladEncoder

Encoder = FisherEncoder | VladEncoder | BagOfWordsEncoder
_ENCODERS: dict[str, type[Encoder]] = {"fisher": FisherEncoder, "vlad": VladEncoder, "words": BagOfWordsEncoder}


def make_encoder(kind: str, n_modes: int, n_components: int, position_weight: float, seed: int) -> Encoder:
    """Make an unfitted encoder of a kind, ``"fisher"``, ``"vlad"`` or ``"words"``; parameters as of its class."""
    return _ENCODERS[kind](n_modes, n_components, position_weight, seed)


__all__ = ["BagOfWordsEncoder", "Encoder", "FisherEncoder", "VladEncoder", "make_encoder"]
