from pathlib import Path

import numpy as np
import pytest

from leafid.learning.held_out import HeldOutAnswers
from leafid.pictures.picture import Picture, Taxon


def answers():
    names = ("Olea europaea", "Quercus ilex", "Acer campestre")
    pictures = [Picture(Path(f"{number}.jpg"), taxon=Taxon(name)) for number, name in enumerate(names)]
    probabilities = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    return HeldOutAnswers(pictures, probabilities, ("Acer campestre", "Olea europaea"), np.array([True, False, True]))


def test_pictures_of_known_species_are_selected():
    found = answers().select_known()
    assert [picture.file.name for picture in found.pictures] == ["0.jpg", "2.jpg"]
    assert found.probabilities.tolist() == [[0.1, 0.9], [0.3, 0.7]]
    assert found.is_known.all()
    assert found.labels.tolist() == [1, 0]


def test_no_picture():
    nothing = answers().select(np.zeros(3, bool))
    assert nothing.pictures == []
    assert nothing.probabilities.shape == (0, 2)
    assert nothing.labels.shape == (0,)


def test_a_species_without_a_column():
    with pytest.raises(KeyError, match="Quercus ilex"):
        _ = answers().labels
