"""What was said of pictures by identifiers that were trained without their plants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leafid.collection.picture import Picture


@dataclass
class HeldOut:
    """What an identifier said of its training pictures, each time trained without the picture's plant.

    Attributes
    ----------
    pictures : list of Picture
        Those of the identifier's own type; of a large collection a part of the plants.
    probabilities : float64 (n, n_species)
    species : tuple of str
        The columns.
    seen : bool (n,)
        Whether the species had another plant to learn from; only then can the answer be right.
    """

    pictures: list[Picture]
    probabilities: np.ndarray
    species: tuple[str, ...]
    seen: np.ndarray

    def chosen(self, kept: np.ndarray) -> HeldOut:
        """Keep some of the pictures.

        Parameters
        ----------
        kept : bool (n,)

        Returns
        -------
        HeldOut
        """
        pictures = [picture for picture, is_kept in zip(self.pictures, kept, strict=True) if is_kept]
        return HeldOut(pictures, self.probabilities[kept], self.species, self.seen[kept])

    def seen_part(self) -> HeldOut:
        """Keep the pictures that can be right."""
        return self.chosen(self.seen)

    @property
    def right(self) -> np.ndarray:
        """The column of each picture's species, intp (n,).

        Raises
        ------
        KeyError
            When `species` lacks one: ask the `seen_part`.
        """
        columns = {name: column for column, name in enumerate(self.species)}
        return np.array([columns[str(picture.species)] for picture in self.pictures], np.intp)
