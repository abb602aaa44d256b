"""A dependency that can't be imported: one line says what to install."""

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from leafid.errors import InstallationError, naming_what_to_install
from leafid.features.loader import FeatureLoader

REPOSITORY = Path(__file__).parents[1]
LIBRARY = "cannot open shared object file: No such file or directory"
HEADLESS = (
    "without a desktop: pip install --force-reinstall --no-deps opencv-python-headless"
)


@pytest.fixture
def run_without(tmp_path):
    """Run Python with a package that lacks a shared library."""

    def run(package, library, *words):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(
            f"raise ImportError('{library}: {LIBRARY}')\n"
        )
        path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
        environment = os.environ | {
            "PYTHONPATH": path,
            "LEAFID_CACHE": str(tmp_path / "cache"),
        }
        return subprocess.run(
            [sys.executable, *words],
            env=environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
        )

    return run


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("libGL.so.1", ["predict", "examples/leaves/fig.jpg"]),
        ("libgthread-2.0.so.0", ["predict", "data/sample", "--jobs", "2"]),
        ("libglib-2.0.so.0", ["serve", "--port", "0"]),
        ("libSM.so.6", ["info", "data/sample"]),
    ],
)
def test_opencv_without_its_libraries(run_without, library, words):
    done = run_without("cv2", library, "-m", "leafid", *words)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"leafid: error: cv2 can't be imported: {library}: {LIBRARY}; {HEADLESS}\n"
    )
    assert done.stdout == ""


def test_another_package_without_its_libraries(run_without):
    done = run_without(
        "simplejpeg", "libturbojpeg.so.0", "-m", "leafid", "info", "data/sample"
    )
    advice = "install it again, or the shared library that it lacks"
    expected = (
        f"leafid: error: simplejpeg can't be imported: libturbojpeg.so.0: {LIBRARY}; "
        f"{advice}\n"
    )
    assert (done.returncode, done.stderr) == (1, expected)


@pytest.mark.parametrize("class_", ["leafid.LeafidError", "ImportError"])
def test_from_python(run_without, class_):
    # A person tries again.
    tries = f"try: leafid.load_model()\n    except {class_} as error: print(error)"
    done = run_without(
        "cv2", "libGL.so.1", "-c", f"import leafid\nfor _ in range(2):\n    {tries}"
    )
    assert (
        done.stdout == f"cv2 can't be imported: libGL.so.1: {LIBRARY}; {HEADLESS}\n" * 2
    )


def test_what_needs_no_opencv_works_without(run_without):
    assert run_without("cv2", "libGL.so.1", "-m", "leafid", "--help").returncode == 0


def test_what_only_pictures_need_is_no_problem_of_each_picture(queries):
    results = FeatureLoader().map_pictures(
        lambda picture: importlib.import_module("no_such_package"), queries[:1]
    )
    with pytest.raises(InstallationError, match="no_such_package can't be imported"):
        next(results)


def test_a_mistake_of_leafid_stays_one():
    with pytest.raises(ImportError) as caught, naming_what_to_install():
        from leafid.errors import no_such_name  # noqa: F401
    assert type(caught.value) is ImportError


def test_the_error_of_a_worker_process_is_not_wrapped_again():
    error = pickle.loads(pickle.dumps(InstallationError("cv2 can't be imported")))
    with pytest.raises(InstallationError) as caught, naming_what_to_install():
        raise error
    assert caught.value is error
