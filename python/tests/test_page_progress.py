"""Visual progress of a page and its speed index, from histograms of pictures."""

import pytest
from mousehole.page import _progress as progress

WHITE, BLACK = (0, 100), (100, 0)
"""A hundred pixels, by number of black and white ones."""


def make_histogram(black: int) -> tuple[int, int]:
    """Returns the histogram of a picture of 100 pixels, of which `black` are black."""
    return black, 100 - black


def test_speed_index__is_the_area_above_the_curve() -> None:
    # Blank for 1 s, 80 % for 2 s more, complete at 3 s: 1 + 2 × 0.2.
    found = progress.compute_progress([-0.2, 1.0, 3.0], [WHITE, make_histogram(80), BLACK])
    assert [time for time, _ in found] == [0.0, 1.0, 3.0]
    assert [share for _, share in found] == pytest.approx([0.0, 0.8, 1.0])
    assert progress.speed_index_s(found) == pytest.approx(1.4)


def test_speed_index__is_the_time_of_a_page_that_comes_at_once() -> None:
    assert progress.speed_index_s(progress.compute_progress([0.0, 2.5], [WHITE, BLACK])) == pytest.approx(2.5)


def test_compute_progress__begin_with_the_last_picture_before_the_navigation() -> None:
    found = progress.compute_progress([-2.0, -1.0, 1.0, 2.0], [BLACK, WHITE, make_histogram(50), BLACK])
    assert found == ((0.0, 0.0), (1.0, 0.5), (2.0, 1.0))


def test_compute_progress__of_a_page_that_loses_what_it_had_fall_to_0_at_the_least() -> None:
    found = progress.compute_progress(
        [0.0, 1.0, 2.0, 3.0], [make_histogram(50), BLACK, WHITE, make_histogram(60)]
    )
    assert [share for _, share in found] == [0.0, 0.0, 0.0, 1.0]


def test_compute_progress__of_a_blank_page_are_complete_from_the_first() -> None:
    found = progress.compute_progress([-0.1, 1.0], [WHITE, WHITE])
    assert found == ((0.0, 1.0),)
    assert progress.speed_index_s(found) == 0


def test_compute_progress__without_pictures_are_unknown() -> None:
    assert progress.compute_progress([], []) == ()
    assert progress.speed_index_s(()) is None
