import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# fuzz/ and benchmarks/ stand beside the package, and are not installed.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
