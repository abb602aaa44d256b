"""Reads Pl@ntNet-300K: a folder per species in each of train, val and test, and two JSON files.

The classes are the identifiers of the species. Where several have one name without its author, the identifier is a part
of the name: ``Lactuca virosa 1355868``.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, section 3. https://doi.org/10.5281/zenodo.4726653
"""

from collections import Counter
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures import names
from leafid.pictures.collection import Collection, Omission
from leafid.pictures.picture import AcquisitionType, Content, Picture, Taxon
from leafid.pictures.readers import folders
from leafid.textfiles import read_json

LAYOUT = "plantnet300k"
_NAMES_FILE = "species_id_2_name.json"
_METADATA_FILE = "_metadata.json"


def detect(path: Path) -> bool:
    """Tell whether a path is the data set, its ``images`` folder, or one of its parts."""
    return path.is_dir() and _find_file(path, _NAMES_FILE) is not None


def read(path: Path) -> Collection:
    """Read the data set, its ``images`` folder, or one of its parts.

    An observation serves as the plant. All pictures count as photos; their content is the organ.
    """
    names_file = _find_file(path, _NAMES_FILE)
    if names_file is None:
        raise LeafidError(f"{path}: expected a file *{_NAMES_FILE} in it or up to two folders above, found none")
    metadata_file = _find_file(path, _METADATA_FILE)
    problems: list[str] = []
    if metadata_file is None:
        problems.append(f"{names_file.parent}: expected a file *{_METADATA_FILE}, found none; plants are not known")
    taxa = _make_taxa(_read_object(names_file))
    metadata = _read_object(metadata_file) if metadata_file else {}
    images = next((folder for folder in folders.list_folders(path) if folder.name.lower().startswith("images")), path)
    sections = folders.find_sections(images)
    folders.refuse_repeated_parts(folder for _, folder in sections)
    species_folders = [(part, folder) for part, section in sections for folder in folders.list_folders(section)]
    pictures: list[Picture] = []
    for part, folder in species_folders:
        taxon = taxa.get(folder.name)
        if not isinstance(taxon, Taxon):
            reason = taxon or f"expected the name of species {folder.name}, found None"
            problems.append(Omission(f"{names_file}: {reason}; the pictures in {folder} are left out"))
            continue
        files = folders.list_pictures(folder)
        pictures += (_make_picture(file, part, taxon, metadata.get(file.stem), problems) for file in files)
    used = frozenset(folder for _, folder in species_folders)
    expected = "directly in folders named by the number of a species"
    return Collection(path, LAYOUT, tuple(pictures), tuple(problems), used, expected)


def _find_file(path: Path, ending: str) -> Path | None:
    folder = path.resolve()
    for candidate in (folder, folder.parent, folder.parent.parent):
        found = [file for file in folders.list_files(candidate, {".json"}) if file.name.endswith(ending)]
        if found:
            return found[0]
    return None


def _read_object(file: Path) -> dict[str, object]:
    content = read_json(file)
    if not isinstance(content, dict):
        raise LeafidError(f"{file}: expected a JSON object, found a {type(content).__name__}")
    return content


def _make_taxa(species_names: dict[str, object]) -> dict[str, Taxon | str]:
    """Make the taxon of each identifier, or say why it has none."""
    parsed: dict[str, str] = {}
    taxa: dict[str, Taxon | str] = {}
    for identifier, name in species_names.items():
        try:
            if not isinstance(name, str):
                raise LeafidError(f"expected the name of species {identifier}, found {name!r}")
            parsed[identifier] = names.parse_species_name(name)
        except LeafidError as error:
            taxa[identifier] = str(error)
    count = Counter(parsed.values())
    for identifier, species in parsed.items():
        label = species if count[species] == 1 else f"{species} {identifier}"
        full_name = " ".join(str(species_names[identifier]).split())
        taxa[identifier] = Taxon(label, names.parse_genus(species), identifier=identifier, full_name=full_name)
    return taxa


def _make_picture(file: Path, part: str | None, taxon: Taxon, entry: object, problems: list[str]) -> Picture:
    fields = entry if isinstance(entry, dict) else {}
    content: Content | None = None
    organ = fields.get("organ")
    if isinstance(organ, str):
        try:
            content = names.parse_content(organ)
        except LeafidError as error:
            problems.append(f"{file}: organ: {error}; the field is ignored")
    observation, author, licence = (fields.get(key) for key in ("obs_id", "author", "license"))
    return Picture(
        file,
        type=AcquisitionType.PHOTO,
        content=content,
        taxon=taxon,
        plant=str(observation) if observation is not None else None,
        author=str(author) if author is not None else None,
        licence=str(licence) if licence is not None else None,
        part=part,
    )
