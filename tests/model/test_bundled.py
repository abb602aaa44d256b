import pytest

from leafid.errors import LeafidError
from leafid.model import bundled


def installation(tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "__file__", str(tmp_path / "site" / "leafid" / "learning" / "bundled.py"))
    return tmp_path / "site"


def put(folder):
    folder.mkdir(parents=True)
    (folder / bundled.DEFAULT_NAME).write_text("")
    return folder / bundled.DEFAULT_NAME


def test_in_a_checkout_it_lies_beside_the_package(tmp_path, monkeypatch):
    site = installation(tmp_path, monkeypatch)
    beside = put(site / "models")
    assert bundled.find_bundled_model() == beside.resolve()


def test_installed_it_lies_in_the_package(tmp_path, monkeypatch):
    site = installation(tmp_path, monkeypatch)
    put(site / "models")
    inside = put(site / "leafid" / "models")
    assert bundled.find_bundled_model() == inside.resolve()


def test_missing(tmp_path, monkeypatch):
    installation(tmp_path, monkeypatch)
    with pytest.raises(LeafidError, match="is missing from this installation; name one with --model, or train one"):
        bundled.find_bundled_model()
