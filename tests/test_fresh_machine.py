"""The fresh-machine script: it runs the very commands that the README gives."""

import pytest

import fresh_machine


def test_the_commands_are_those_of_the_readme():
    readme = (fresh_machine.ROOT / "README.md").read_text(encoding="utf-8")
    assert fresh_machine.commands(readme) == ("make lab", "make test")


@pytest.mark.parametrize(
    "readme", ["", "make lab\nmake test", "```\nmake lab\n```\n```\nmake test\n```"]
)
def test_a_readme_without_them_is_refused(readme):
    with pytest.raises(SystemExit, match="no block with the two commands"):
        fresh_machine.commands(readme)
