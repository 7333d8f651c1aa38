import struct

import pytest

figure = pytest.importorskip("bestbefore.demo.figure", reason="needs matplotlib")


def png_size(path):
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", content[16:24])


def test_the_figure_is_a_png_of_the_right_size(runs, tmp_path):
    figure.draw(runs, tmp_path / "freshness.png")
    assert png_size(tmp_path / "freshness.png") == (1350, 750)


def test_an_evaluation_without_rows_leaves_a_gap(cast, make_run, tmp_path):
    odd = [make_run(cast[0], [None]), make_run(cast[1], [0.5, None, 0.6]), make_run(cast[2], [1.0])]
    figure.draw(odd, tmp_path / "freshness.png")
    assert png_size(tmp_path / "freshness.png") == (1350, 750)


def test_labels_of_lines_that_end_together_do_not_overlap(cast, make_run):
    together = [make_run(contender, [0.9]) for contender in cast]
    heights = sorted(figure._label_heights(together))
    assert heights[1] - heights[0] > 0.1
    assert heights[2] - heights[1] > 0.1
    assert heights[2] <= 1
