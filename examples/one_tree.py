"""Name a tree from several pictures: python examples/one_tree.py [PICTURE ...].

Each picture is also identified by itself.
"""

import sys

import leafid

pictures = sys.argv[1:]
if not pictures:
    sample = leafid.read_collection("data/sample").part("train").pictures
    pictures = [picture.file for picture in sample if picture.plant == sample[0].plant]
answer = leafid.load_model().identify_plant(pictures)
for part in answer.parts:
    print(f"{part.picture.name}: {part.verdict_text}")
print(f"together: {answer.verdict_text}")
