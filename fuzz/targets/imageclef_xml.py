"""The XML beside pictures, of 2011, 2012 and 2013."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.pictures.readers.imageclef import read_picture
from leafid.pictures.reading import read_collection

_SEEDS = (
    """<?xml version="1.0" encoding="UTF-8"?>
<Image><FileName>1.jpg</FileName><Date>16/06/10 17:44</Date>
<Type>photograph</Type><Organization>Inra</Organization>
<Author>Amiel Rosine</Author><IndividualPlantId>12</IndividualPlantId>
<Taxon><Regnum>Plantae</Regnum><Order>Fagales</Order><Family>Fagaceae</Family>
<Species>robur</Species><Genus>Quercus</Genus></Taxon>
<VernacularNames>English Oak, Chêne</VernacularNames><Locality>Drome</Locality>
<Content>Foliage</Content><GPSLocality>
<Longitude>4.91</Longitude><Latitude>44.92</Latitude><Altitude>123.0</Altitude></GPSLocality></Image>
""",
    """<Image><FileName>1.jpg</FileName><Type>pseudoscan</Type><Content>Leaf</Content>
<ClassId>Quercus coccifera</ClassId><Taxon>
<Species>Quercus coccifera L.</Species><Genus>Quercus L.</Genus>
<Family>Fagaceae Dumort.</Family></Taxon>
<Date>2012/02</Date></Image>
""",
    """<?xml version="1.0"?><Image>
<FileName>1.jpg</FileName><IndividualPlantId>77</IndividualPlantId>
<Date>20/05/12</Date><Type>NaturalBackground</Type><Content>Flower</Content>
<ClassId>Acer campestre</ClassId><Family>Sapindaceae</Family>
<Longitude>3.9</Longitude><Latitude>43.6</Latitude></Image>
""",
    """<?xml version="1.0"?><!DOCTYPE Image [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<Image><FileName>&b;</FileName></Image>
""",
    """<!DOCTYPE Image [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<Image><FileName>&a;</FileName></Image>""",
    """<Image><FileName>../1.jpg</FileName><Type>Scan</Type></Image>""",
)


def target() -> Target:
    """Read a file, then its folder."""

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "1.xml", data)
        # No XML file is left out silently: what the one reader refuses, the other
        # lists.
        problems = read_collection(folder, "imageclef").problems
        if any("\n" in problem or not problem.isprintable() for problem in problems):
            raise AssertionError(f"a problem is not one line: {problems!r}"[:300])
        read_picture(file, file.parent, "train")

    words = (
        b"FileName Type Taxon Genus Species ClassId Date Latitude Content <!DOCTYPE "
        b"<!ENTITY <![CDATA[ ]]> &#x2028; &#10; &#27; encoding= utf-16 latin-1 UTF-7 "
        b"Scan SheetAsBackground <?xml"
    )
    utf16 = _SEEDS[2].replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16")
    return Target(
        "imageclef-xml",
        "picture metadata (XML of ImageCLEF 2011, 2012, 2013)",
        lambda: [*map(str.encode, _SEEDS), utf16],
        call,
        tuple(words.split()),
    )
