"""How the interpretation metric responds to objects that are altered more and more.

These are plausibility experiments of Hemery et al., section 3, on a scene of four
boxes; for your own objects, `leafid.tasks.interpretation.coco.read_coco(file).objects`
has the objects of each picture. An error is 0 (perfect) to 1.
"""

from leafid.tasks.interpretation.metric import Scene, score_scene
from leafid.tasks.interpretation.regions import Box, BoxedObject

LEAVES = [
    BoxedObject(name, Box(200 * i, 100, 40, 30))
    for i, name in enumerate(["oak", "ash", "oak", "elm"])
]


def move(leaf, right=0.0, width=1.0):
    """Move a box to the right by some of its widths, and widen it by a factor."""
    box = leaf.box
    return leaf._replace(
        box=Box(box.left + right * box.width, box.top, width * box.width, box.height)
    )


# Of the first n leaves, or of all by a share.
ALTERATIONS = {
    "remove": lambda n, share: LEAVES[n:],
    "add": lambda n, share: LEAVES + [move(leaf, 100) for leaf in LEAVES[:n]],
    "relabel": lambda n, share: (
        [leaf._replace(name="moss") for leaf in LEAVES[:n]] + LEAVES[n:]
    ),
    "split": lambda n, share: (
        [move(leaf, at, 0.5) for leaf in LEAVES[:n] for at in (0, 0.5)] + LEAVES[n:]
    ),
    "shift": lambda n, share: [move(leaf, share) for leaf in LEAVES],
    "widen": lambda n, share: [move(leaf, -share, 1 + 2 * share) for leaf in LEAVES],
}

print("share   ", *(f"{name:>8}" for name in ALTERATIONS))
for n in range(len(LEAVES) + 1):
    share = n / len(LEAVES)
    altered = [alter(n, share) for alter in ALTERATIONS.values()]
    scenes = [Scene.from_objects(LEAVES, objects) for objects in altered]
    errors = [error for error, _ in map(score_scene, scenes)]
    print(f"{share:<8.2f}", *(f"{error:8.3f}" for error in errors))
