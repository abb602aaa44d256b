import sys
from pathlib import Path

# The benchmarks are no part of the package: they are run from the repository's folder.
sys.path.insert(0, str(Path(__file__).parents[2]))
