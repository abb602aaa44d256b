"""The files that setup.cfg ships: every package, and all that the program reads."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

import pytest

import leafid

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
    packages = {
        ".".join(file.relative_to(REPOSITORY).parts[:-1])
        for file in REPOSITORY.glob("leafid/**/__init__.py")
    }
    assert named == {*packages, "leafid.models"}


def test_every_data_file_is_shipped(setup_cfg):
    shipped = set()
    for package, patterns in setup_cfg["options.package_data"].items():
        folder = REPOSITORY / (
            "models" if package == "leafid.models" else package.replace(".", "/")
        )
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
    not builds_wheels(),
    reason="building a wheel without a network needs setuptools 71 (the extra 'test')",
)
def test_the_wheel_of_the_image_names_a_picture(tmp_path):
    """The Dockerfile copies all that a wheel needs, and needs no windows of OpenCV."""
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    dockerfile = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    for copied in re.findall(r"^COPY (?!--)(.*) \S+$", dockerfile, re.MULTILINE):
        for name in copied.split():
            if (REPOSITORY / name).is_dir():
                shutil.copytree(
                    REPOSITORY / name,
                    source / name,
                    ignore=shutil.ignore_patterns("__pycache__"),
                )
            else:
                shutil.copy(REPOSITORY / name, source)
    (edit,) = re.findall(r"^RUN (sed .*)$", dockerfile, re.MULTILINE)
    subprocess.run(edit, shell=True, check=True, cwd=source)
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run([*install, "--target", site, source], check=True)
    (installed,) = distributions(name="leafid", path=[str(site)])
    assert re.findall(
        r"^opencv[\w-]*", "\n".join(installed.requires), re.MULTILINE
    ) == ["opencv-python-headless"]
    # It comes before the checkout that is installed.
    code = (
        "import leafid, leafid.__main__ as main; print(leafid.__file__, flush=True); "
        "main.run()"
    )
    words = [
        sys.executable,
        "-c",
        code,
        "predict",
        REPOSITORY / "examples" / "leaves" / "fig.jpg",
        "--no-cache",
    ]
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith(f"{site}{os.sep}")
    assert "Ficus carica" in done.stdout


def test_the_workflow_tests_every_version_of_python(setup_cfg):
    workflow = (REPOSITORY / ".github" / "workflows" / "ci.yml").read_text(
        encoding="utf-8"
    )
    named = re.findall(
        r"Programming Language :: Python :: (3\.\d+)",
        setup_cfg["metadata"]["classifiers"],
    )
    assert (
        re.findall(r'python: "(.*?)", run: (?:.ci/run|scripts/test)}', workflow)
        == named
    )


def test_actions_and_images_are_pinned_by_digest():
    files = [REPOSITORY / "Dockerfile", *REPOSITORY.glob(".github/workflows/*.yml")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    used = re.findall(r"(?:^FROM|^ *-? *uses:) +(\S+)", text, re.MULTILINE)
    stages = set(re.findall(r"^FROM .* AS (\w+)$", text, re.MULTILINE))
    pin = re.compile(r"\S+@(sha256:[0-9a-f]{64}|[0-9a-f]{40})")
    assert len(used) > 3
    assert [
        name for name in used if name not in stages and not pin.fullmatch(name)
    ] == []


def test_the_citation_is_of_this_version():
    assert f"\nversion: {leafid.__version__}\n" in (
        REPOSITORY / "CITATION.cff"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_what_the_pages_install_can_serve(setup_cfg, page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    extras = re.search(r"pip install '?\.(?:\[(.*?)\])?", text)[1] or ""
    lines = "".join(
        setup_cfg["options.extras_require"].get(extra, "")
        for extra in extras.split(",")
    )
    packages = {line.partition(">=")[0] for line in lines.split()}
    assert {"python-multipart", "starlette", "uvicorn"} <= packages
