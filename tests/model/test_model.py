import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.features.type_features import N_TYPE_FEATURES
from leafid.model.model import Model
from leafid.model.recogniser import TypeRecogniser
from leafid.pictures.picture import AcquisitionType


def test_a_type_that_it_was_not_trained_for():
    types = AcquisitionType.SCAN, AcquisitionType.PHOTO
    model = Model(dict.fromkeys(types), {}, TypeRecogniser(types), "")
    with pytest.raises(
        LeafidError, match="not trained for pictures of type scan-like, only for scan, photo; say --assume-type"
    ):
        model["scan-like"]


def test_with_one_type_every_picture_is_of_it():
    recogniser = TypeRecogniser((AcquisitionType.PHOTO,))
    assert recogniser.recognise(np.zeros((2, N_TYPE_FEATURES))) == [(AcquisitionType.PHOTO, 1.0)] * 2
