"""What may not grow in passing: the lines of each part.

A limit that has to move is moved here, in the same commit, where a reviewer sees it.
"""

from pathlib import Path

import pytest

from stridekit import exercises

ROOT = Path(__file__).parent.parent

# Lines: which folder, without which, which kinds of files, and how many at most. A limit only goes down: a
# part pays for what grows with other lines, and one that shrinks by more than SLACK lowers its limit.
OTHERS = ("audit/", "exercises/", "export/", "lessons/", "widgets/")
CONTENT = [f"{lesson}/" for lesson in exercises.__dir__()]
CONTENT += ["readers/", "confusions.py", "hardware.py"]
SIZES = {
    "the small package": ("stridekit", OTHERS, ("py",), 6_431),
    "audit": ("stridekit/audit", (), ("py",), 1_797),
    "lessons": ("stridekit/lessons", (), ("py",), 1_300),
    "export": ("stridekit/export", (), ("py", "js", "css"), 700),
    "exercises": ("stridekit/exercises", (), ("py",), 7_190),
    "the engine of exercises": ("stridekit/exercises", CONTENT, ("py",), 1_200),
    "Python of widgets": ("stridekit/widgets", (), ("py",), 2_896),
    "JavaScript of widgets": ("stridekit/widgets", (), ("js",), 8_398),
    "styles of widgets": ("stridekit/widgets", (), ("css",), 948),
    "labextension": ("labextension", (), ("js",), 113),
    "tests": ("tests", (), ("py", "mjs", "js"), 17_944),
    "rows of hands": ("tests/browser", (), ("txt",), 944),
    "planted defects, messages, rows of widgets": ("tests", ("browser/",), ("txt",), 3_532),
    "tools": ("tools", (), ("py",), 789),
}
SLACK = 100
LONGEST_MODULE = 500  # one story; what is longer has a reason, and its own limit
LONGER = {
    # One class, a short method for each operation, a third of it docstrings.
    "stridekit/layout.py": 1034,
    "stridekit/widgets/page/layout.js": 665,  # all of Python's Layout that a browser needs
}


def lines(folder, kinds):
    """How many lines each file has, by its path."""
    files = [path for kind in kinds for path in sorted((ROOT / folder).rglob(f"*.{kind}"))]
    counts = [path.read_bytes().count(b"\n") for path in files]
    return {path.relative_to(ROOT).as_posix(): n for path, n in zip(files, counts, strict=True)}


@pytest.mark.parametrize("name", SIZES)
def test_lines_only_get_fewer(name, record_property):
    folder, without, kinds, most = SIZES[name]
    others = tuple(f"{folder}/{part}" for part in without)
    count = sum(n for path, n in lines(folder, kinds).items() if not path.startswith(others))
    record_property("summary", f"lines of {name}: {count:,} of {most:,}")
    assert count <= most, f"{name} grew by {count - most} lines: shorten it, its limit stays"
    assert count >= most - SLACK, f"{name} shrank: lower its limit in SIZES to {count:_}"


def test_no_module_is_longer_than_one_story():
    modules = lines("stridekit", ("py", "js", "css"))
    assert {name: n for name, n in modules.items() if n > LONGER.get(name, LONGEST_MODULE)} == {}
