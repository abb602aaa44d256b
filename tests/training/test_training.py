from leafid.pictures.picture import AcquisitionType
from leafid.pictures.summary import compute_fingerprint
from leafid.training.model import train
from tests.model.model_files import read_reproducible_content

SHEET = AcquisitionType.SCAN_LIKE


def test_only_pictures_that_a_recipe_uses_are_told_of(training, recipes, loader):
    model = train(training, {SHEET: recipes[SHEET]}, loader)
    sheets = [picture for picture in training if picture.type == SHEET]
    assert model.fingerprint == compute_fingerprint(sheets)
    assert model.recogniser.types == (SHEET,)
    assert model.recogniser.accuracy is None


def test_a_model_trained_and_saved_from_python_is_the_one_that_the_command_writes(
    trained, drawn_model, tmp_path
):
    trained.save(tmp_path / "model.leafid")
    assert read_reproducible_content(
        tmp_path / "model.leafid"
    ) == read_reproducible_content(drawn_model)
