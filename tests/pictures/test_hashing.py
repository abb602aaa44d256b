from dataclasses import replace

import pytest

from leafid.errors import LeafidError
from leafid.pictures import compute_fingerprint, read_collection


def test_fingerprint(tmp_path, add):
    for place in ("here", "there"):
        for number in (1, 2, 3):
            add(tmp_path / place, number, IndividualPlantId=str(number))
    pictures = read_collection(tmp_path / "here").pictures
    print_ = compute_fingerprint(pictures)
    assert len(print_) == 64
    assert print_ == compute_fingerprint(reversed(pictures))
    assert print_ == compute_fingerprint(read_collection(tmp_path / "there").pictures)
    assert print_ != compute_fingerprint(pictures[:2])
    assert print_ != compute_fingerprint((*pictures, pictures[0]))
    assert print_ != compute_fingerprint((replace(pictures[0], plant="9"), *pictures[1:]))
    assert print_ != compute_fingerprint((replace(pictures[0], taxon=None), *pictures[1:]))
    pictures[0].file.write_bytes(pictures[1].file.read_bytes())
    assert print_ != compute_fingerprint(pictures)
    pictures[0].file.unlink()
    with pytest.raises(LeafidError, match=r"1\.jpg"):
        compute_fingerprint(pictures)
