"""Recognises the format of a picture by its first bytes, and lists the file name endings of pictures."""

#: File name endings that count as pictures when a folder is listed; the content decides which format it is.
PICTURE_ENDINGS = frozenset(
    {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp", ".gif", ".heic", ".heif", ".hif", ".avif"}
)
#: Endings of pictures that leafid doesn't read: raw data of cameras, and formats of newer or of professional programs.
UNREAD_ENDINGS = frozenset(
    {".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw", ".raw", ".jxl", ".jp2", ".psd"}
)
READABLE_FORMATS = "a JPEG, PNG, TIFF, BMP, WebP, GIF, HEIC or AVIF picture"
#: Number of bytes at the start of a file that are enough to recognise its format.
SIGNATURE_SIZE = 256

_SIGNATURES: dict[str, tuple[bytes, ...]] = {
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "BMP": (b"BM",),
    "WEBP": (b"RIFF",),
    "GIF": (b"GIF87a", b"GIF89a"),
}
# Brands of ISO/IEC 23008-12 (HEIF) and of the AV1 Image File Format. Both formats share the brands mif1 and msf1.
_AVIF_BRANDS = {b"avif", b"avis"}
_HEVC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"}
_HEIF_BRANDS = {b"mif1", b"msf1"}


def identify_format(start: bytes) -> str | None:
    """Return Pillow's name of a picture format that leafid reads, by the first `SIGNATURE_SIZE` bytes of a file."""
    if start[4:8] == b"ftyp":
        return _identify_heif(start)
    for kind, signatures in _SIGNATURES.items():
        if start.startswith(signatures) and (kind != "WEBP" or start[8:12] == b"WEBP"):
            return kind
    return None


def _identify_heif(start: bytes) -> str | None:
    end = min(int.from_bytes(start[:4], "big"), SIGNATURE_SIZE)
    major, *compatible = (start[position : position + 4] for position in (8, *range(16, end, 4)))
    if major not in _AVIF_BRANDS | _HEVC_BRANDS | _HEIF_BRANDS:
        return None
    # The major brand decides, unless it is one of those that both formats share.
    brands = set(compatible) if major in _HEIF_BRANDS else {major}
    return "AVIF" if brands & _AVIF_BRANDS and not brands & _HEVC_BRANDS else "HEIF"


def describe_content(start: bytes) -> str:
    """Describe for a message what a file holds whose format leafid doesn't read."""
    if not start:
        return "an empty file (0 bytes)"
    if start[4:8] == b"ftyp":
        return "raw data of a camera (CR3)" if start[8:11] == b"crx" else "a video"
    if start.startswith(b"%PDF"):
        return "a PDF"
    start = start[:16]
    if all(byte >= 32 or byte in b"\t\n\r" for byte in start):
        return f"text ({start.decode('utf-8', 'replace')!r} …)"
    return f"something else (its first bytes are {start[:8].hex(' ')})"
