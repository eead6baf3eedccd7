"""Time limits, with a clock on the wall that stands still until the test moves it."""

from __future__ import annotations

import math

import pytest

from breadth.clock import NO_LIMIT, Clock
from tests.walls import Wall


@pytest.fixture
def wall(monkeypatch):
    return Wall(monkeypatch)


def test_it_counts_from_when_it_was_made(wall):
    wall.now = 5.0
    clock = Clock(2.0)
    assert (clock.spent, clock.remaining, clock.is_over()) == (0.0, 2.0, False)
    wall.now += 1.5
    assert (clock.spent, clock.remaining, clock.is_over()) == (1.5, 0.5, False)
    wall.now += 0.5
    assert clock.is_over()
    wall.now += 1.0
    assert clock.remaining == -1.0


def test_a_limit_of_zero_is_over_at_once(wall):
    assert Clock(0.0).is_over()


def test_without_a_limit_it_is_never_over(wall):
    clock = Clock()
    wall.now += 1e9
    assert not clock.is_over()
    assert clock.remaining == math.inf
    assert not NO_LIMIT.is_over()


def test_a_pause_is_not_counted(wall):
    clock = Clock(3.0)
    wall.now += 1.0
    clock.pause()
    wall.now += 10.0
    assert (clock.spent, clock.is_over()) == (1.0, False)
    clock.pause()  # a second time changes nothing
    wall.now += 10.0
    clock.resume()
    wall.now += 1.0
    assert clock.spent == 2.0
    clock.pause()
    clock.resume(0.75)  # somebody else worked for it meanwhile
    assert clock.spent == 2.75
    wall.now += 0.25
    assert clock.is_over()


@pytest.mark.parametrize(("limit", "asked", "given"), [(10.0, 3.0, 3.0), (10.0, 60.0, 6.0), (math.inf, 5.0, 5.0)])
def test_a_part_of_the_work_gets_no_more_than_is_left(wall, limit, asked, given):
    whole = Clock(limit)
    wall.now += 4.0
    part = whole.within(asked)
    assert part.limit == given
    assert part.spent == 0.0
    wall.now += given
    assert part.is_over()


def test_there_is_no_time_for_a_part_once_the_whole_is_over(wall):
    whole = Clock(1.0)
    wall.now += 2.0
    assert whole.within(5.0).is_over()
