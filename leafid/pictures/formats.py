"""Recognises the format of a picture by its first bytes, and lists the file name endings of pictures."""

#: File name endings that count as pictures when a folder is listed; the content decides which format it is.
PICTURE_ENDINGS = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".jfi", ".jif", ".pjpeg", ".pjp", ".mpo", ".png", ".apng", ".tif", ".tiff"}
    | {".bmp", ".dib", ".webp", ".gif", ".heic", ".heics", ".heif", ".heifs", ".hif", ".avif", ".avifs"}
)
READABLE_FORMATS = "a JPEG, PNG, TIFF, BMP, WebP, GIF, HEIC or AVIF picture"

_SIGNATURES: dict[str, tuple[bytes, ...]] = {
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "BMP": (b"BM",),
    "GIF": (b"GIF87a", b"GIF89a"),
}
# Brands of ISO/IEC 23008-12 (HEIF) and of the AV1 Image File Format. Both formats share the brands mif1 and msf1.
_AVIF_BRANDS = {b"avif", b"avis"}
_HEVC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"}
_HEIF_BRANDS = {b"mif1", b"msf1"}


def identify_format(data: bytes) -> str | None:
    """Return Pillow's name of a picture format that leafid reads, by the first bytes of a file."""
    if data[4:8] == b"ftyp":
        end = min(int.from_bytes(data[:4], "big"), 256)
        major, *compatible = (data[position : position + 4] for position in (8, *range(16, end, 4)))
        # The major brand decides, unless it is one of those that both formats share.
        brands = set(compatible) if major in _HEIF_BRANDS else {major}
        if brands & _HEVC_BRANDS or (major in _HEIF_BRANDS and not brands & _AVIF_BRANDS):
            return "HEIF"
        return "AVIF" if brands & _AVIF_BRANDS else None
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    return next((kind for kind, signatures in _SIGNATURES.items() if data.startswith(signatures)), None)
