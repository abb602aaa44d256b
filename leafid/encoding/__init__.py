"""From a set of local features to one vector: learn on many pictures, apply to one."""

from leafid.encoding.fisher import FisherEncoder
from leafid.encoding.words import WordsEncoder

Encoder = FisherEncoder | WordsEncoder


def make_encoder(kind: str, n_modes: int, n_components: int, position_weight: float, seed: int) -> Encoder:
    """Make an encoder that has learned nothing yet; `kind` is ``fisher`` or ``words``."""
    if kind == "fisher":
        return FisherEncoder(n_modes, n_components, position_weight, seed)
    return WordsEncoder(n_modes, n_components, position_weight, seed)


__all__ = ["Encoder", "FisherEncoder", "WordsEncoder", "make_encoder"]
