"""Small pictures for the report, with the outline of the leaf that was found in each."""

from collections.abc import Iterable, Sequence

from leafid.errors import ImageError
from leafid.features.recipe import LONGEST_SIDE
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.overlay import draw_overlay
from leafid.segmentation.result import shrink
from leafid.segmentation.segment import segment
from leafid.workers import ordered_map

#: Longest side, in pixels.
SIDE = 136


class Gallery:
    """The pictures that the report may show; each is read only once."""

    def __init__(self, pictures: Sequence[Picture], jobs: int = 1) -> None:
        self._jobs = jobs
        # A package lists a test picture twice, with and without its label; both have the same file.
        self.pictures = {picture.name: picture for picture in pictures}
        self._of_species: dict[str, list[str]] = {}
        # Training pictures come first: they are what the program has seen of a species.
        for picture in sorted(pictures, key=lambda picture: picture.part != "train"):
            if picture.species:
                self._of_species.setdefault(picture.species, []).append(picture.name)
        self._images: dict[str, bytes | None] = {}

    def load(self, names: Iterable[str]) -> None:
        """Read pictures on several processes."""
        missing = [name for name in dict.fromkeys(names) if name in self.pictures and name not in self._images]
        pictures = [self.pictures[name] for name in missing]
        images = ordered_map(make_thumbnail, pictures, self._jobs, lambda _picture, _problem: None, item_seconds=0.03)
        self._images.update(zip(missing, images, strict=True))

    def get(self, name: str) -> bytes | None:
        """Return a picture as JPEG; None where there is none that can be read."""
        self.load([name])
        return self._images.get(name)

    def show(self, names: Iterable[str], count: int) -> list[tuple[str, bytes]]:
        """Return the first `count` of the pictures that can be read, by name."""
        shown: list[tuple[str, bytes]] = []
        for name in names:
            if len(shown) < count and (image := self.get(name)):
                shown.append((name, image))
        return shown

    def list_species(self, species: str, like: str, except_for: Sequence[str] = ()) -> list[str]:
        """List the pictures of a species, those of the same acquisition type as the picture `like` first."""
        names = [name for name in self._of_species.get(species, []) if name not in except_for]
        type_ = self.pictures[like].type if like in self.pictures else None
        return sorted(names, key=lambda name: self.pictures[name].type != type_)


def make_thumbnail(picture: Picture) -> bytes | None:
    """Make a JPEG of a picture with the outline of its leaf; None where it can't be read."""
    try:
        image = read_image(picture.file, LONGEST_SIDE)
    except ImageError:
        return None
    small = shrink(image, SIDE)
    if picture.type is not None:
        # As identification segments it.
        small = draw_overlay(small, segment(image, picture.type, petiole=picture.type is not AcquisitionType.PHOTO))
    return encode_jpeg(small)
