"""What the workers of a cluster must share with the process that they work for."""

import hashlib
import platform
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import leafid
from leafid.errors import LeafidError

# Packages whose version decides results.
_PACKAGES = ("numpy", "scipy", "opencv-python", "scikit-image", "scikit-learn")


@dataclass(frozen=True)
class WorkerRequirements:
    """What a worker must share with its parent process: files, and the versions of software that decides results.

    `parent` is the parent's process id and `folder` its working folder; `paths` are absolute paths that must exist.
    """

    parent: int
    folder: Path
    paths: tuple[Path, ...]
    versions: tuple[tuple[str, str], ...]


@cache
def check_worker(requirements: WorkerRequirements) -> None:
    """Refuse to work on a machine that would give different results, or lacks files."""
    differences = [
        f"{name} {own} instead of {required}"
        for (name, own), (_, required) in zip(collect_versions(), requirements.versions, strict=True)
        if own != required
    ]
    if differences:
        raise LeafidError(
            f"the worker on {platform.node()} has {', '.join(differences)}; results would depend on who computes them: "
            "install the same on all machines"
        )
    for path in requirements.paths:
        if not path.exists():
            raise LeafidError(
                f"the worker on {platform.node()} can't see {path}; share it with all machines under the same path"
            )


@cache
def collect_versions() -> tuple[tuple[str, str], ...]:
    """Collect the versions of leafid, by its code, of Python, and of the packages that decide results."""
    code = hashlib.sha256()
    folder = Path(leafid.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        code.update(f"{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes())
    return (
        ("leafid", f"{leafid.__version__} ({code.hexdigest()[:8]})"),
        ("Python", platform.python_version()),
        *((name, _get_version(name)) for name in _PACKAGES),
    )


def _get_version(name: str) -> str:
    try:
        return version(name)
    except ImportError:  # installed under another name, such as OpenCV built by a distribution: not compared
        return "?"
