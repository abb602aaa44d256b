"""Name the leaf in each picture: python examples/name_leaves.py [PICTURE ...].

The model is the bundled one, or the file in the environment variable MODEL.
"""

import os
import sys
from pathlib import Path

import leafid

model = leafid.load_model(os.environ.get("MODEL"))
for answer in model.identify(
    sys.argv[1:] or sorted(Path("examples/leaves").glob("*.jpg"))
):
    print(f"{answer.picture.file}: {answer.problem or answer.verdict_text}")
