"""Fixed pictures, and digests of their vectors, tied to `FEATURE_VERSION`."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import cv2
import numpy as np
import pytest

from leafid.features.recipe import LONGEST_SIDE
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.versions import FEATURE_VERSION
from tests.drawing.collection import TYPES

_ROOT = Path(__file__).parents[2]
#: Numbers in a digest: a vector is cut into this many pieces at most.
_N_PIECES = 32
# Processors round differently (vector instructions, fused multiplication, BLAS
# kernels), and OpenCV 5 interpolates more finely than OpenCV 4: where a pixel lies on a
# threshold, it changes sides. Between OpenCV 4.11 and 5, with and without AVX, digests
# differed by at most half of this and of the other tolerances in
# test_vector_digests.py.
_TOLERANCE, _ABSOLUTE_SHARE = 5e-3, 0.2


@pytest.fixture
def pictures(training, tmp_path):
    """Copies of four scans, which a test may change."""
    chosen = [picture for picture in training if picture.type == AcquisitionType.SCAN][
        :4
    ]
    return [
        replace(picture, file=shutil.copy(picture.file, tmp_path / picture.name))
        for picture in chosen
    ]


@pytest.fixture(scope="session")
def fixed_pictures() -> dict[str, tuple[np.ndarray, AcquisitionType]]:
    """Pictures that never change: two drawn here, and one file for each type.

    (BGR image, type) by name.
    """
    drawn = _draw_toothed_leaf()
    pictures = {
        "drawn": (drawn, AcquisitionType.SCAN_LIKE),
        "thumbnail": (
            cv2.resize(drawn, (65, 90), interpolation=cv2.INTER_AREA),
            AcquisitionType.SCAN,
        ),
    }
    for type_ in TYPES:
        file = _ROOT / "tests" / "golden" / "vector_digests" / f"{type_}.jpg"
        pictures[str(type_)] = read_image(file, LONGEST_SIDE), type_
    return pictures


@pytest.fixture(scope="session")
def check_digests():
    """Compare vectors with their stored digests.

    As in ``check_digests("families", {"geometry/scan": vector, …})``.

    Each section is a file in tests/golden/vector_digests, with the
    `FEATURE_VERSION` it was written for. Vectors and version must change together.
    ``LEAFID_UPDATE_DIGESTS=1`` rewrites the file, unless the vectors have changed and
    the version has not.

    The numbers of a digest agree within `tolerance`, relative to each, and a fifth of
    it absolutely. Of vectors whose patches are sampled or detected, a pixel more or
    less changes which patches there are: `drifts` maps the beginning of their names to
    the distance that digests may have as a whole, relative to their length.
    """
    return _check_digests


def _check_digests(
    section: str,
    vectors: dict[str, np.ndarray],
    tolerance: float = _TOLERANCE,
    drifts: Mapping[str, float] = MappingProxyType({}),
) -> None:
    path = _ROOT / "tests" / "golden" / "vector_digests" / f"{section}.json"
    digests = {name: digest_vector(vector) for name, vector in vectors.items()}
    stored = (
        json.loads(path.read_text())
        if path.exists()
        else {"feature_version": FEATURE_VERSION, "digests": {}}
    )
    version, golden = stored["feature_version"], stored["digests"]

    def agree(name: str) -> bool:
        drift = max(
            (
                drift
                for beginning, drift in drifts.items()
                if name.startswith(beginning)
            ),
            default=0,
        )
        return _agree(golden[name], digests[name], tolerance, drift)

    changed = [name for name in golden if name in digests and not agree(name)]
    if changed and version == FEATURE_VERSION:
        pytest.fail(
            f"{', '.join(changed[:5])} …: {len(changed)} vectors changed, but "
            f"FEATURE_VERSION is still {version}, and caches serve the old ones; raise "
            "it in leafid/features/extractor.py, or undo the change",
            pytrace=False,
        )
    if os.environ.get("LEAFID_UPDATE_DIGESTS") == "1":
        _write(path, digests)
    elif changed or version != FEATURE_VERSION or golden.keys() != digests.keys():
        pytest.fail(
            f"{path.name} is of FEATURE_VERSION {version} with {len(golden)} vectors, "
            f"the code has {FEATURE_VERSION} with {len(digests)}; run "
            "'LEAFID_UPDATE_DIGESTS=1 pytest tests/features'",
            pytrace=False,
        )


def digest_vector(vector: np.ndarray) -> list[float]:
    """Cut a vector into pieces and sum each with uneven weights.

    Short vectors are kept whole, with a count.
    """
    vector = np.asarray(vector, np.float64).ravel()
    weights = (
        1 + 0.5 * np.sin(np.arange(vector.size) ** 2)
        if vector.size > _N_PIECES
        else np.ones(vector.size)
    )
    pieces = np.array_split(vector * weights, min(vector.size, _N_PIECES) or 1)
    return [vector.size, *(float(f"{piece.sum():.5g}") for piece in pieces)]


def _agree(
    golden: list[float], digest: list[float], tolerance: float, drift: float
) -> bool:
    if len(golden) != len(digest) or golden[0] != digest[0]:
        return False
    is_near = np.allclose(
        digest[1:], golden[1:], rtol=tolerance, atol=_ABSOLUTE_SHARE * tolerance
    )
    return is_near or float(
        np.linalg.norm(np.subtract(digest, golden))
    ) < drift * float(np.linalg.norm(golden[1:]))


def _write(path: Path, digests: dict[str, list[float]]) -> None:
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(digest)}"
        for name, digest in sorted(digests.items())
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'{{"feature_version": {FEATURE_VERSION}, "digests": {{\n{lines}\n}}}}\n'
    )


def _draw_toothed_leaf() -> np.ndarray:
    """Draw a lobed, toothed leaf with veins and a petiole: uint8 (640, 460, 3), BGR.

    It lies on a tinted, unevenly lit sheet.
    """
    rows, cols = np.mgrid[:640, :460]
    sheet = (
        np.array([205.0, 222, 231]) - 0.03 * rows[..., None] - 0.02 * cols[..., None]
    )
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    radius = 1 + 0.16 * np.cos(5 * angle) + 0.03 * np.sin(46 * angle)
    outline = np.stack(
        [230 + 150 * radius * np.sin(angle), 260 - 205 * radius * np.cos(angle)], axis=1
    )
    leaf = np.zeros((640, 460), np.uint8)
    cv2.fillPoly(leaf, [np.rint(outline).astype(np.int32)], 255)
    cv2.line(leaf, (230, 400), (252, 600), 255, 9)
    texture = 18 * np.sin(0.31 * rows + 0.17 * cols) * np.sin(0.23 * cols) + 9 * np.sin(
        0.9 * rows - 0.7 * cols
    )
    inside = np.stack(
        [52 + 0.4 * texture, 118 + texture + 0.05 * rows, 74 + 0.7 * texture], axis=2
    )
    image = np.where(leaf[..., None] > 0, inside, sheet)
    image = np.rint(image).clip(0, 255).astype(np.uint8)
    for end in ((120, 150), (340, 150), (100, 290), (360, 290), (230, 80)):
        cv2.line(image, (230, 420), end, (96, 168, 128), 3)
    return image
