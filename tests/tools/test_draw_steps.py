"""The picture of the steps is the one that the code makes, and lacks no step."""

import ast
import xml.etree.ElementTree as ET
from pathlib import Path

import draw_steps
import follow_steps
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/lookalike"


@pytest.fixture(scope="module")
def boxes():
    """All boxes, by the name of their step."""
    return {box.name: box for box in follow_steps.boxes_of(SOURCE)}


def steps_that_jobs_use():
    """Names of the functions that modules of jobs import from modules of steps, but for those that only list or write."""
    defined = {
        node.name
        for file in (SOURCE / "steps").glob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.args.args and node.args.args[0].arg == "rows"
    }
    used = set()
    for file in set((SOURCE / "jobs").glob("*.py")) - {SOURCE / f"jobs/{name}.py" for name in ("listing", "saved_sketches")}:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steps."):
                used |= {alias.name for alias in node.names}
    return (used & defined) - {"settled_schema"}


def test_the_committed_picture_is_the_one_that_the_code_makes():
    """After a change of a recipe: python tools/draw_steps.py."""
    assert draw_steps.PICTURE.read_text() == draw_steps.draw(follow_steps.boxes_of(SOURCE))


def test_every_step_that_jobs_use_is_in_the_picture(boxes):
    steps = steps_that_jobs_use()
    assert len(steps) > 15
    assert steps <= set(boxes)
    words = [text.text for text in ET.fromstring(draw_steps.PICTURE.read_text()).iter("{http://www.w3.org/2000/svg}text")]
    assert steps <= set(words)


def test_some_boxes_by_hand(boxes):
    assert list(boxes["sketch"].reads) == ["documents"] and list(boxes["sketch"].gives) == ["sketches"]
    assert boxes["exact"].by == {"digest"} and list(boxes["exact"].gives) == ["leaders"]
    assert list(boxes["hold"].reads) == ["crowded", "counts"]
    assert {"bundles", "documents"} <= set(boxes["walk"].reads) and boxes["walk"].lane == "decide"
    assert list(boxes["name"].reads) == ["matches"] and boxes["name"].by == {"right"}
    assert list(boxes["decide"].gives) == ["decisions"] and boxes["decide"].lane == "tell"


def test_each_table_is_given_by_a_step_before_or_is_the_input(boxes):
    given = {name for box in boxes.values() for name in box.gives}
    assert {name for box in boxes.values() for name in box.reads} - given == {"documents"}


def test_tables_in_one_column_have_no_row_in_common(boxes):
    spans = list(draw_steps.columns_of(list(boxes.values())).values())
    for number, (column, first, last) in enumerate(spans):
        assert all(column != other or first > end or last < begin for other, begin, end in spans[:number])
