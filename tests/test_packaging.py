"""What setup.cfg ships: every package, and every file that the program reads from beside its modules."""

import configparser
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def builds_wheels() -> bool:
    try:
        return int(version("setuptools").split(".")[0]) >= 71
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def setup_cfg():
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    return config


def test_every_package_is_named(setup_cfg):
    named = set(setup_cfg["options"]["packages"].split())
    packages = {".".join(file.relative_to(REPOSITORY).parts[:-1]) for file in REPOSITORY.glob("leafid/**/__init__.py")}
    assert named == {*packages, "leafid.models"}


def test_every_data_file_is_shipped(setup_cfg):
    shipped = set()
    for package, patterns in setup_cfg["options.package_data"].items():
        folder = REPOSITORY / ("models" if package == "leafid.models" else package.replace(".", "/"))
        for pattern in patterns.replace(",", " ").split():
            shipped |= set(folder.glob(pattern))
    wanted = {
        path
        for folder in ("leafid", "models")
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    assert wanted <= shipped


@pytest.mark.slow
@pytest.mark.skipif(
    not builds_wheels(), reason="building a wheel without a network needs setuptools 71 (the extra 'test')"
)
def test_a_wheel_holds_the_model(tmp_path):
    source = tmp_path / "source"
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("leafid", "models"):
        shutil.copytree(REPOSITORY / folder, source / folder, ignore=skip)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source / name)
    (source / "models" / "imageclef2011.leafid").write_bytes(b"stands for a model")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--wheel-dir", str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("leafid-*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    find = "from leafid.model.bundled import find_bundled_model; print(find_bundled_model().read_text())"
    # The wheel comes before the checkout that is installed; an answer of that would not be these words.
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(site)!r}); {find}"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout == "stands for a model\n"


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_what_the_pages_install_can_serve(setup_cfg, page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    (extras,) = re.findall(r"^    pip install '?\.\[?(.*?)\]?'?$", text, re.MULTILINE)
    lines = "".join(setup_cfg["options.extras_require"].get(extra, "") for extra in extras.split(","))
    packages = {line.partition(">=")[0] for line in lines.split()}
    assert {"python-multipart", "starlette", "uvicorn"} <= packages
