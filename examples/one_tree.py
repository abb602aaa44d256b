"""Name a tree from several pictures of it, beside each by itself: python examples/one_tree.py [PICTURE ...]."""

import sys

import leafid

pictures = sys.argv[1:]
if not pictures:
    sample = leafid.read_collection("data/sample").part("train").pictures
    pictures = [picture.file for picture in sample if picture.plant == sample[0].plant]
answer = leafid.load_model().identify_plant(pictures)
for part in answer.parts:
    print(f"{part.picture.name}: {part.problem or '{} {:.1%}'.format(*part.ranking[0])}")
if answer.ranking:
    print("together: {} {:.1%}".format(*answer.ranking[0]))
