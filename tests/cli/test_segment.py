"""`leafid segment` from end to end, also with bad input."""

import cv2
import numpy as np
import pytest


@pytest.fixture
def leaf_file(tmp_path):
    image = np.full((300, 240, 3), 254, np.uint8)
    cv2.ellipse(image, (120, 130), (60, 90), 0, 0, 360, (40, 110, 60), -1)
    cv2.line(image, (120, 215), (120, 280), (40, 110, 60), 5)
    path = tmp_path / "pictures" / "leaf.png"
    path.parent.mkdir()
    cv2.imwrite(str(path), image)
    return path


def test_writes_mask_overlay_and_crop(cli, leaf_file, tmp_path):
    outcome = cli(
        "segment",
        leaf_file,
        "--assume-type",
        "scan",
        "--output",
        tmp_path / "cut",
        "--crop",
        "--jobs",
        1,
    )
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""
    header, line = outcome.out.splitlines()
    assert header.split() == ["picture", "type", "leaf", "confidence", "verdict"]
    name, kind, share, confidence, verdict = line.split(maxsplit=4)
    assert (name, kind) == ("leaf.png", "scan")
    # The model has seen no leaf like this drawing, as measure says.
    measured = cli("measure", leaf_file, "--assume-type", "scan", "--format", "json")
    [row] = measured.json
    assert verdict == row["verdict"]
    assert float(confidence) == pytest.approx(row["area_confidence"], abs=0.006)

    mask = cv2.imread(str(tmp_path / "cut" / "leaf_mask.png"), cv2.IMREAD_UNCHANGED)
    assert mask.shape == (300, 240)
    assert set(np.unique(mask)) == {0, 255}
    assert mask[130, 120] == mask[270, 120] == 255
    assert mask[10, 10] == 0
    assert float(share.rstrip("%")) == pytest.approx(
        100 * (mask > 0).mean(), abs=0.06
    )  # one decimal is printed

    overlay = cv2.imread(str(tmp_path / "cut" / "leaf_overlay.jpg")).astype(int)
    assert overlay.shape == (300, 240, 3)
    blue, green, red = np.moveaxis(overlay, -1, 0)
    assert (
        (red > 150) & (blue < 100) & (green < 100)
    ).sum() > 200  # the blade's outline
    assert ((red > 150) & (blue > 150) & (green < 120))[230:].any()  # the petiole's
    assert cv2.imread(str(tmp_path / "cut" / "leaf_crop.png")).shape == (512, 512, 3)
    assert len(list((tmp_path / "cut").iterdir())) == 3


def test_odd_names_cost_themselves_only(cli, leaf_file, tmp_path):
    content = leaf_file.read_bytes()
    for name in ("x" * 247 + ".png", "line\nbreak.png", "return\r.png"):
        (leaf_file.parent / name).write_bytes(content)
    words = ["segment", leaf_file.parent, "--assume-type", "scan", "--jobs", 1]
    outcome = cli(*words, "--output", tmp_path / "cut")
    assert outcome.status == 1
    _, *lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "leaf.png",
        "line\\nbreak.png",
        "return\\r.png",
    ]
    error, count = outcome.err.splitlines()
    assert "can't be written: File name too long" in error
    assert count == "leafid: 1 of 4 pictures left out"
    # Their contents are equal.
    (line,) = (
        line
        for line in cli("info", leaf_file.parent, "--jobs", 1).out.splitlines()
        if line.count(" = ") == 3
    )
    assert "line\\nbreak.png = " in line
    # Nothing of it is written.
    assert len(list((tmp_path / "cut").iterdir())) == 6


def test_outputs_of_pictures_with_the_same_name_differ(cli, leaf_file, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / "pictures" / folder).mkdir()
        (tmp_path / "pictures" / folder / "leaf.png").write_bytes(
            leaf_file.read_bytes()
        )
    files = [leaf_file.parent / folder / "leaf.png" for folder in ("a", "b")]
    assert cli("segment", *files, "--output", tmp_path / "cut", "--jobs", 1).status == 0
    masks = {file.name for file in (tmp_path / "cut").glob("*_mask.png")}
    assert masks == {"a_leaf.png_mask.png", "b_leaf.png_mask.png"}


def test_what_is_no_leaf_is_not_sure(cli, tmp_path):
    for name, radius in (("disc", 90), ("blank", 0)):
        image = np.full((300, 240, 3), 254, np.uint8)
        if radius:
            cv2.circle(image, (120, 130), radius, (60, 60, 190), -1)
        cv2.imwrite(str(tmp_path / f"{name}.png"), image)
    files = [tmp_path / "disc.png", tmp_path / "blank.png"]
    words = ("--assume-type", "scan", "--jobs", 1)
    outcome = cli("segment", *files, *words, "--output", tmp_path / "cut")
    _, disc, blank = outcome.out.splitlines()
    assert disc.endswith("  no leaf")
    assert float(disc.split()[3]) < 0.5
    assert blank.split()[2:] == ["0.0%", "0.00", "no", "leaf"]
    assert "blank.png: no leaf found; its mask is empty" in outcome.err
    assert outcome.err.count("no leaf found") == 1


def test_masks_find_the_pictures_that_they_are_of(cli, leaf_file, tmp_path):
    """What segment writes can be measured, also of pictures with the same name."""
    image = cv2.imread(str(leaf_file))
    folder = leaf_file.parent
    leaf_file.unlink()
    for name, size in (("a", 120), ("b", 180)):
        (folder / name).mkdir()
        smaller = cv2.resize(image, (size, size))
        cv2.imwrite(str(folder / name / "leaf.png"), smaller)
    cv2.imwrite(str(folder / "b" / "leaf.jpg"), cv2.resize(image, (200, 200)))
    words = ("--assume-type", "scan", "--jobs", 1)
    for switch in ([], ["--each-leaf"]):
        cut = tmp_path / f"cut{len(switch)}"
        cli("segment", folder, "--output", cut, *words, *switch)
        outcome = cli("measure", folder, "--masks", cut, *words, "--format", "json")
        assert (outcome.status, len(outcome.json)) == (0, 3), outcome.err
        for row in outcome.json:
            name = "_".join(row["picture"].rsplit("/", 2)[1:])
            mask = cv2.imread(str(next(cut.glob(f"{name}*_mask.png"))))
            assert row["area"] == pytest.approx(
                np.mean(mask > 0) * mask[..., 0].size, rel=0.1
            )

    # A name that two pictures share is of none; a folder says which is meant.
    cut = tmp_path / "shared"
    (cut / "b").mkdir(parents=True)
    mask = cv2.imread(str(tmp_path / "cut0" / "b_leaf.png_mask.png"))
    cv2.imwrite(str(cut / "leaf_mask.png"), mask)
    files = [folder / name / "leaf.png" for name in ("a", "b")]
    outcome = cli("describe", *files, "--masks", cut, *words)
    assert (outcome.status, len(outcome.rows)) == (1, 0)
    for file in files:
        problem = "expected one mask, leaf.png or leaf_mask.png (in a folder"
        assert f"{file}: {problem} {file.parent.name} where" in outcome.err
    (cut / "leaf_mask.png").rename(cut / "b" / "leaf_mask.png")
    outcome = cli("describe", *files, "--masks", cut, *words)
    assert [row["picture"] for row in outcome.rows] == [str(files[1])]


def test_masks_are_not_written_among_the_pictures(cli, leaf_file):
    folder = leaf_file.parent
    for command, flag in (("segment", "--output"), ("measure", "--overlay")):
        for target in (folder, folder / "cut"):
            outcome = cli(command, folder, flag, target, "--assume-type", "scan")
            assert outcome.status == 2
            assert f"{flag} {target}: expected a folder outside {folder}" in outcome.err
    assert list(folder.iterdir()) == [leaf_file]
