"""Makes the labels of a collection: whole names, but for authors where no other name is then the same."""

from dataclasses import replace

from leafid.grouping import count_noun, group_by
from leafid.pictures.names import drop_authors, read_families
from leafid.pictures.picture import Collection, Picture


def make_labels(collection: Collection) -> Collection:
    """Leave out the authors in labels of common genera, where no other label of the collection is then the same.

    Further problems name the labels that differ only by how they are written, or by an author.
    """
    taxa = {
        taxon.full_name: taxon
        for picture in collection.pictures
        if (taxon := picture.taxon) and not taxon.identifier
    }
    labels: dict[str, str] = {}
    problems = [*collection.problems]
    for bare, group in group_by(
        taxa.values(), lambda t: drop_authors(t.species)
    ).items():
        species = {taxon.species for taxon in group}
        if (
            species != {bare}
            and len(species) == 1
            and group[0].genus in read_families()
        ):
            labels[group[0].species] = bare
        if len(species) < len(group) or (len(group) > 1 and bare in species):
            names = " and ".join(repr(taxon.full_name) for taxon in group)
            count = count_noun(len(species), "label")
            problems.append(f"{collection.root}: {names} count as {count}")

    def relabel(picture: Picture) -> Picture:
        taxon = picture.taxon
        if taxon is None or taxon.species not in labels:
            return picture
        return replace(picture, taxon=replace(taxon, species=labels[taxon.species]))

    pictures = tuple(map(relabel, collection.pictures))
    return replace(collection, pictures=pictures, problems=tuple(problems))
