"""Name the leaf in each picture: python examples/name_leaves.py [PICTURE ...].

The model is the bundled one, or the file in the environment variable MODEL.
"""

import os
import sys

import leafid

model = leafid.load_model(os.environ.get("MODEL"))
for answer in model.identify(sys.argv[1:] or ["data/sample/Test/5.jpg", "data/sample/Test/80.jpg"]):
    print(f"{answer.picture.file}: {answer.problem or answer.verdict_text}")
