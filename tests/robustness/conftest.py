import hashlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# fuzz/ and benchmarks/ stand beside the package, and are not installed.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session")
def hash_file():
    """The sum of a file's bytes."""
    return lambda file: hashlib.sha256(Path(file).read_bytes()).hexdigest()
