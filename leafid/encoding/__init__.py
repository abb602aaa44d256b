"""From a set of local features to one vector: learn on many pictures, apply to one."""

from leafid.encoding.fisher import FisherEncoder
from leafid.encoding.vlad import VladEncoder
from leafid.encoding.words import WordsEncoder

Encoder = FisherEncoder | VladEncoder | WordsEncoder
_KINDS: dict[str, type[Encoder]] = {"fisher": FisherEncoder, "vlad": VladEncoder, "words": WordsEncoder}


def make_encoder(kind: str, n_modes: int, n_components: int, position_weight: float, seed: int) -> Encoder:
    """Make an encoder that has learned nothing yet; `kind` is ``fisher``, ``vlad`` or ``words``."""
    return _KINDS[kind](n_modes, n_components, position_weight, seed)


__all__ = ["Encoder", "FisherEncoder", "VladEncoder", "WordsEncoder", "make_encoder"]
