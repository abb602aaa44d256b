import hashlib
from dataclasses import replace

import pytest

from leafid.collection import content_hash, fingerprint, read_collection
from leafid.errors import LeafidError


def test_content_hash(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"leaf" * 100_000)
    assert content_hash(file) == hashlib.sha256(b"leaf" * 100_000).hexdigest()
    with pytest.raises(LeafidError, match="can't be read"):
        content_hash(tmp_path / "none")


def test_fingerprint(tmp_path, add):
    for place in ("here", "there"):
        for number in (1, 2, 3):
            add(tmp_path / place, number, IndividualPlantId=str(number))
    pictures = read_collection(tmp_path / "here").pictures
    print_ = fingerprint(pictures)
    assert len(print_) == 64
    assert print_ == fingerprint(reversed(pictures))
    assert print_ == fingerprint(read_collection(tmp_path / "there").pictures)
    assert print_ != fingerprint(pictures[:2])
    assert print_ != fingerprint((*pictures, pictures[0]))
    assert print_ != fingerprint((replace(pictures[0], plant="9"), *pictures[1:]))
    assert print_ != fingerprint((replace(pictures[0], taxon=None), *pictures[1:]))
    pictures[0].file.write_bytes(pictures[1].file.read_bytes())
    assert print_ != fingerprint(pictures)
    pictures[0].file.unlink()
    with pytest.raises(LeafidError, match=r"1\.jpg"):
        fingerprint(pictures)
