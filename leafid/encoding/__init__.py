"""From a set of local features to one vector: learn on many pictures, apply to one."""

from leafid.encoding.fisher import FisherEncoder
from leafid.encoding.vlad import VladEncoder
from leafid.encoding.words import BagOfWordsEncoder

Encoder = FisherEncoder | VladEncoder | BagOfWordsEncoder
_KINDS: dict[str, type[Encoder]] = {"fisher": FisherEncoder, "vlad": VladEncoder, "words": BagOfWordsEncoder}


def make_encoder(kind: str, n_modes: int, n_components: int, position_weight: float, seed: int) -> Encoder:
    """Make an encoder that has learned nothing yet.

    Parameters
    ----------
    kind : {"fisher", "vlad", "words"}
    n_modes : int
        Gaussians of the Fisher vector, or visual words of the others; from 1 up.
    n_components : int
        Principal components that are kept of a local descriptor, from 1 up.
    position_weight : float
        Weight of the place of a patch beside its look; 0 leaves it out.
    seed : int
        Of all that learning draws; not negative.

    Returns
    -------
    Encoder
    """
    return _KINDS[kind](n_modes, n_components, position_weight, seed)


__all__ = ["BagOfWordsEncoder", "Encoder", "FisherEncoder", "VladEncoder", "make_encoder"]
