import pytest

from leafid.errors import LeafidError
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
