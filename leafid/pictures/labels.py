"""Makes the labels of a collection: whole names, but for authors where no other name is then the same."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from leafid.grouping import count_noun, group_by
from leafid.pictures.names import drop_authors, read_families
from leafid.pictures.picture import Picture, Taxon


def make_labels(
    source: Path, pictures: Sequence[Picture]
) -> tuple[list[Picture], list[str]]:
    """Leave out the authors in labels of a known family, where no other label of the pictures is then the same.

    Also returns lines about labels that are written in several ways, and about those that differ by authors only.
    """
    taxa = {
        taxon.full_name: taxon
        for picture in pictures
        if (taxon := picture.taxon) and taxon.full_name and not taxon.identifier
    }
    bare_names = {taxon.species: drop_authors(taxon.species) for taxon in taxa.values()}
    count = Counter(bare_names.values())
    labels = {
        taxon.species: bare_names[taxon.species]
        for taxon in taxa.values()
        if taxon.family or taxon.genus in read_families()
    }
    alike = {
        name: bare
        for name, bare in labels.items()
        if name != bare and bare in bare_names
    }
    labels = {name: bare for name, bare in labels.items() if count[bare] == 1}
    remarks = [f"{source}: {line}" for line in _list_remarks(taxa, alike)]
    return [_relabel(picture, labels) for picture in pictures], remarks


def _relabel(picture: Picture, labels: Mapping[str, str]) -> Picture:
    taxon = picture.taxon
    if taxon is None or taxon.identifier or taxon.species not in labels:
        return picture
    return replace(picture, taxon=replace(taxon, species=labels[taxon.species]))


def _list_remarks(taxa: Mapping[str, Taxon], alike: Mapping[str, str]) -> Iterator[str]:
    spellings = group_by(taxa, lambda name: taxa[name].species)
    several = [names for names in spellings.values() if len(names) > 1]
    for names in several[:1]:
        count = count_noun(len(several), "label")
        first, second, *_ = names
        yield f"{count} written in several ways, such as {first!r} and {second!r}; each is one label"
    for name in [*alike][:1]:
        count = count_noun(len(alike), "label")
        yield (
            f"{count} kept apart from others that only lack an author, such as {name!r} from {alike[name]!r}; "
            "rename them if they are the same"
        )
