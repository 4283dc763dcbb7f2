"""The workflows of CI run pinned actions, keep no credentials, and publish only what passed all tests."""

import re
from pathlib import Path

import pytest
import yaml

GITHUB = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))


def workflow(name):
    return yaml.safe_load((GITHUB / "workflows" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_checkouts_keep_no_credentials(path):
    """A tag can be moved to another commit, a hash cannot. The version is for people and Dependabot."""
    uses = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    for action, comment in uses:
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), action
    for job in workflow(path.name)["jobs"].values():
        for step in job.get("steps", []):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_an_action_has_one_version():
    pins = set()
    for path in WORKFLOWS:
        pins |= {*re.findall(r"uses: (\S+@\S+)", path.read_text(encoding="utf-8"))}
    assert len(pins) == len({pin.partition("@")[0] for pin in pins})


def test_a_tag_publishes_only_after_the_whole_test_workflow():
    jobs = workflow("release.yml")["jobs"]
    assert jobs["publish"]["needs"] == ["build", "test"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["test"]["if"] == jobs["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    triggers = workflow("test.yml")[True]  # YAML reads `on` as a bool
    assert "workflow_call" in triggers


def test_dependabot_knows_each_kind_of_package():
    """Actions, and the folders of pyproject.toml and package.json."""
    text = (GITHUB / "dependabot.yml").read_text(encoding="utf-8")
    updates = yaml.safe_load(text)["updates"]
    kinds = {update["package-ecosystem"]: update["directory"] for update in updates}
    assert kinds == {"github-actions": "/", "pip": "/", "npm": "/"}
