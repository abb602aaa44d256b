"""Leaves that touch, or nearly so, against the parts of one leaf."""

import json

import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.leaves import isolate_leaf, segment_leaves
from leafid.segmentation.regions import may_be_several, split_leaves
from leafid.segmentation.segment import segment
from tests.descriptors.test_traits import FORMS
from tests.drawing.leaves import draw_leaf


def draw_ellipses(*ellipses):
    """Draw ellipses in 400 rows and 600 columns.

    Each is (row, col, half height, half width, degrees).
    """
    mask = np.zeros((400, 600), np.uint8)
    for row, col, height, width, angle in ellipses:
        cv2.ellipse(mask, (col, row), (width, height), angle, 0, 360, 1, cv2.FILLED)
    return mask.view(bool)


def paint(share):
    """Paint a green leaf on a white sheet, as the share of each pixel says."""
    sheet, leaf = np.array([235, 238, 240]), np.array([40, 110, 60])
    return (sheet + share[..., None] * (leaf - sheet)).astype(np.uint8)


APART = draw_ellipses((200, 150, 150, 70, 0), (200, 300, 120, 70, 0))


@pytest.mark.parametrize(
    ("mask", "number"),
    [
        (draw_ellipses((200, 150, 150, 70, 0)), 1),
        (APART, 2),
        (APART | draw_ellipses((200, 450, 90, 70, 0)), 3),
        # A speck beside a leaf.
        (draw_ellipses((200, 150, 150, 70, 0), (200, 400, 20, 20, 0)), 1),
    ],
)
def test_leaves_that_a_gap_parts_are_split(mask, number):
    pieces = split_leaves(mask, paint(mask))
    assert len(pieces) == number
    assert may_be_several(mask) == (number > 1)
    if number > 1:
        assert np.array_equal(np.sum(pieces, axis=0), mask)


def test_words_beside_a_leaf_are_no_leaves():
    image = paint(draw_ellipses((130, 150, 110, 60, 0)))
    place = 20, 340
    cv2.putText(image, "Quercus 20", place, 0, 2.4, (30,) * 3, 6, cv2.LINE_AA)
    [leaf] = segment_leaves(image, AcquisitionType.SCAN_LIKE)
    assert leaf.mask[130, 150]


def test_two_leaves_that_a_twig_or_a_neck_connects_may_be_several():
    twig = draw_ellipses((200, 230, 3, 120, 0))
    touching = draw_ellipses((200, 150, 150, 70, 0), (200, 289, 120, 70, 0))
    for mask in (APART | twig, touching):
        assert len(split_leaves(mask, paint(mask))) == 1
        assert may_be_several(mask)
    assert not may_be_several(np.zeros((40, 40), bool))


@pytest.mark.parametrize("column", [288, 284, 280])
@pytest.mark.parametrize("size", [1, 0.5])
def test_two_leaves_side_by_side_that_overlap_may_be_several(column, size):
    pair = draw_ellipses((200, 150, 150, 70, 0), (180, column, 140, 70, 0))
    # They are told at each size of the picture.
    mask = cv2.resize(pair.view(np.uint8), None, fx=size, fy=size) > 0
    assert len(split_leaves(mask, paint(mask))) == 1
    assert may_be_several(mask)


def test_a_leaf_with_bites_on_both_sides_is_one():
    leaf = draw_ellipses((200, 300, 90, 200, 0))
    bites = draw_ellipses((110, 300, 35, 40, 0), (290, 310, 35, 40, 0))
    assert not may_be_several(leaf & ~bites)


@pytest.mark.parametrize("columns", [(100, 160, 220, 280), (100, 170, 240)])
@pytest.mark.parametrize("last", [(200, 400, 30, 70, 0), (200, 420, 45, 90, 0)])
def test_a_last_leaflet_without_its_rachis_is_no_leaf(columns, last):
    leaf = draw_ellipses(last)
    for column in columns:
        leaf |= draw_ellipses((130, column, 60, 24, 0), (270, column, 60, 24, 0))
        leaf[130:270, column - 2 : column + 2] = True
    leaf[196:204, 60:284] = True
    assert not may_be_several(leaf)


@pytest.mark.parametrize(("trace", "number"), [(0, 2), (0.45, 1)])
def test_pieces_are_compound_leaves_unless_a_trace_of_the_rachis_joins_them(
    trace, number
):
    half = np.zeros((400, 600), bool)
    half[196:204, 60:248] = True
    for column in (90, 140, 190, 238):
        half |= draw_ellipses((120, column, 80, 18, 0), (280, column, 80, 18, 0))
    # The last leaflets end at column 256, and those of the other half begin at 265.
    halves = [half, np.roll(half[:, ::-1], -78, axis=1)]
    share = np.max(halves, axis=0).astype(float)
    share[196:204, 240:280] = np.maximum(share[196:204, 240:280], trace)
    cut_out = segment(paint(share), AcquisitionType.SCAN, petiole=False)
    assert cut_out.n_leaves == number
    whole = [np.any(halves, axis=0)] if number == 1 else halves
    overlaps = [
        (cut_out.mask & mask).sum() / (cut_out.mask | mask).sum() for mask in whole
    ]
    assert max(overlaps) > 0.95


@pytest.mark.parametrize(("trace", "number"), [(0, 3), (0.6, 1)])
def test_solid_leaflets_stay_together_where_a_pale_stalk_joins_them(trace, number):
    mask = draw_ellipses(
        (110, 300, 80, 60, 0), (280, 160, 45, 90, 0), (280, 440, 45, 90, 0)
    )
    stalks = draw_ellipses((280, 300, 3, 60, 0), (240, 300, 60, 3, 0))
    share = np.maximum(mask, trace * stalks)
    assert len(split_leaves(mask, paint(share))) == number


@pytest.mark.parametrize("gap", [4, 6])
def test_leaves_are_apart_where_the_gap_is_narrower_than_the_reduced_picture_shows(gap):
    first = np.zeros((800, 700), np.uint8)
    cv2.ellipse(first, (200, 400), (150, 340), 0, 0, 360, 255, cv2.FILLED)
    second = np.zeros_like(first)
    cv2.ellipse(second, (470 + gap, 400), (120, 280), 0, 0, 360, 255, cv2.FILLED)
    share = cv2.GaussianBlur(cv2.max(first, second), (0, 0), 0.8) / 255
    encoded = cv2.imencode(".jpg", paint(share), [cv2.IMWRITE_JPEG_QUALITY, 90])[1]
    leaf = segment(cv2.imdecode(encoded, 1), AcquisitionType.SCAN, petiole=False)
    assert leaf.n_leaves == 2
    expected = first > 127
    assert (leaf.mask & expected).sum() / (leaf.mask | expected).sum() > 0.95


@pytest.mark.parametrize("name", FORMS)
def test_one_leaf_is_not_taken_for_several(name):
    for seed in range(3):
        picture = draw_leaf(FORMS[name], seed, 0.3).picture
        assert not may_be_several(segment(picture, AcquisitionType.SCAN).mask)


@pytest.fixture(scope="module")
def near_leaves():
    """Two drawn leaves 8 pixels from each other, and their masks."""
    pictures = [draw_leaf(FORMS[name], 0, 0).picture for name in ("beech", "birch")]
    masks = [segment(picture, AcquisitionType.SCAN).mask for picture in pictures]
    (first, second), height = masks, max(mask.shape[0] for mask in masks)
    gap = min(
        np.flatnonzero(right)[0] + len(left) - np.flatnonzero(left)[-1] - 1
        for left, right in zip(first, second, strict=False)
        if left.any() and right.any()
    )
    col = first.shape[1] - gap + 8
    sheet = np.full((height, col + second.shape[1], 3), pictures[0][0, 0], np.uint8)
    placed = []
    for picture, mask, left in zip(pictures, masks, (0, col), strict=True):
        place = np.s_[: mask.shape[0], left : left + mask.shape[1]]
        sheet[place] = np.where(mask[..., None], picture, sheet[place])
        placed.append(np.zeros(sheet.shape[:2], bool))
        placed[-1][place] = mask
    return sheet, placed


def test_each_of_two_near_leaves_is_cut_out_whole(near_leaves):
    sheet, expected = near_leaves
    leaves = segment_leaves(sheet, AcquisitionType.SCAN)
    largest = segment(sheet, AcquisitionType.SCAN)
    assert [leaf.n_leaves for leaf in (*leaves, largest)] == [2, 2, 2]
    assert np.array_equal(largest.mask, leaves[0].mask)
    for index, leaf in enumerate(leaves):
        overlaps = [
            (leaf.mask & mask).sum() / (leaf.mask | mask).sum() for mask in expected
        ]
        assert max(overlaps) > 0.95
        # The other leaf is erased, but nothing of this one.
        alone = isolate_leaf(sheet, leaves, index)
        again = segment_leaves(alone, AcquisitionType.SCAN)
        assert len(again) == 1
        assert again[0].mask.sum() == pytest.approx(leaf.mask.sum(), rel=0.02)


def test_the_answer_and_the_measures_say_that_leaves_touch(near_leaves, cli, tmp_path):
    sheet, masks = near_leaves
    near, twig = tmp_path / "near.png", tmp_path / "twig.png"
    cv2.imwrite(str(near), sheet)
    leaves = [tuple(np.argwhere(mask)[:, ::-1].mean(axis=0)) for mask in masks]
    ends = [tuple(round(value) for value in leaf) for leaf in leaves]
    joined = cv2.line(sheet.copy(), *ends, sheet[ends[0][1], ends[0][0]].tolist(), 12)
    cv2.imwrite(str(twig), joined)
    words = ("--assume-type", "scan", "--jobs", 1, "--format", "json")
    pictures = (near, twig)
    answers = cli("predict", *pictures, *words, "--cache", tmp_path / "cache").json
    reasons = [answer["reasons"][0] for answer in answers]
    assert reasons[0].startswith("leafid sees 2 leaves")
    assert reasons[1].startswith("perhaps several leaves that touch")
    assert len(cli("measure", near, *words, "--each-leaf").json) == 2
    outcome = cli("measure", twig, *words)
    [row] = json.loads(outcome.out)
    assert "leaf 1 is perhaps several leaves that touch" in outcome.err
    assert row["lobes"] is row["leaflets"] is row["teeth"] is None
    assert row["area_confidence"] <= 0.5
