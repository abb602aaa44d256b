"""Makes the labels of a collection, without authors where names stay different."""

from dataclasses import replace

from leafid.grouping import count_noun, group_by
from leafid.pictures.names import drop_authors, read_families
from leafid.pictures.picture import Collection, Picture


def make_labels(collection: Collection) -> Collection:
    """Leave out authors in labels of common genera where labels stay different.

    Further problems name the labels that differ only by how they are written, or by an
    author.
    """
    pictures = collection.pictures
    # No identifier distinguishes these.
    taxa = [p.taxon for p in pictures if p.taxon and not p.taxon.identifier]
    by_full_name = {taxon.full_name: taxon for taxon in taxa}
    by_bare_name = group_by(by_full_name.values(), lambda t: drop_authors(t.species))
    labels: dict[str, str] = {}
    problems = [*collection.problems]
    for bare, group in by_bare_name.items():
        species = {taxon.species for taxon in group}
        if len(species) == 1 and group[0].genus in read_families():
            labels[group[0].species] = bare
        if len(species) < len(group) or (len(group) > 1 and bare in species):
            names = " and ".join(repr(taxon.full_name) for taxon in group)
            count = count_noun(len(species), "label")
            problems.append(f"{collection.root}: {names} count as {count}")
    relabelled = tuple(_relabel(picture, labels) for picture in pictures)
    return replace(collection, pictures=relabelled, problems=tuple(problems))


def _relabel(picture: Picture, labels: dict[str, str]) -> Picture:
    taxon = picture.taxon
    if taxon is None or taxon.species not in labels:
        return picture
    return replace(picture, taxon=replace(taxon, species=labels[taxon.species]))
