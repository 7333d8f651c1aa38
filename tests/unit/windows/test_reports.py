from bestbefore.windows import (
    Instants,
    ReportSetting,
    ReportStrategy,
    SlidingWindow,
    Timeline,
    reported,
)


def periodic(timeline, evaluations, every_ms):
    setting = ReportSetting(ReportStrategy.PERIODIC, every_ms)
    return reported(setting, evaluations, timeline, found=())


def test_the_first_evaluation_in_each_period():
    timeline = Timeline(Instants((SlidingWindow(10, 2),)))
    assert periodic(timeline, list(range(1, 11)), 6) == [3, 6, 9]


def test_a_period_whose_first_instant_does_not_take_place():
    """Of windows that close every 2 and every 3, none closes at 5 or 25: the next one reports."""
    both = Instants((SlidingWindow(10, 2), SlidingWindow(10, 3)))
    due = list(both.due(1, 30))
    assert periodic(Timeline(both), due, 5) == [6, 10, 15, 20, 26, 30]


def test_windows_of_so_many_elements_report_by_the_time_of_the_last():
    window = Instants((SlidingWindow(4, 2),))
    closings = {1: 3_000, 2: 9_000, 3: 11_000, 4: 12_000, 5: 35_000}
    timeline = Timeline(window, closings, closings, slide_ms=1)
    assert periodic(timeline, [1, 2, 3, 4, 5], 10_000) == [1, 3, 5]
    # The evaluation before the first is that of another batch.
    later = Timeline(window, {2: 9_000, 3: 9_500, 4: 12_000}, closings, slide_ms=1)
    assert periodic(later, [3, 4], 10_000) == [4]
