import pytest

from leafid.errors import LeafidError
from leafid.model import bundled


def test_in_a_checkout_or_installed_or_missing(tmp_path, monkeypatch):
    site = tmp_path / "site"
    monkeypatch.setattr(
        bundled, "__file__", str(site / "leafid" / "model" / "bundled.py")
    )
    with pytest.raises(
        LeafidError,
        match="is missing from this installation; name one with --model, or train one",
    ):
        bundled.find_bundled_model()
    for folder in (site / "models", site / "leafid" / "models"):
        folder.mkdir(parents=True)
        (folder / bundled.DEFAULT_NAME).write_text("")
        assert bundled.find_bundled_model() == (folder / bundled.DEFAULT_NAME).resolve()
