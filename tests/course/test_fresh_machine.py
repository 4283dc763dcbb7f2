"""A newcomer's first minutes are played with the two commands of a README, and what fails stops them."""

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest

import fresh_machine
from tests.course.flushed import Flushed

pytestmark = pytest.mark.skipif(
    os.name == "nt" or not shutil.which("make"), reason="needs make and a POSIX system"
)

MAKEFILE = """\
lab:
	@exec python3 serve.py $(LAB_ARGS)
test:
	@echo "$(TEST_ARGS)" >tested
	@env >>tested; id -u >>tested; pwd >>tested
	@mkdir -p "$(NOTES)" && chmod 777 "$(NOTES)" && cp tested address "$(NOTES)"
	@test "$(TEST_ARGS)" != red
"""
SERVER = """\
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"This is WORD")

server = HTTPServer(("127.0.0.1", 0), Page)
address = f"http://127.0.0.1:{server.server_port}/lab/tree/start.ipynb?token=abc1"
print("no address yet:", sys.argv[1:], address.replace("/lab/", "/tree/"), flush=True)
print(address, file=open("address", "w"))
print(f"    {address}", flush=True)
server.serve_forever()
"""
README = "make lab     # first\nmake test    # then\nmake testing\n"


@pytest.fixture
def newcomers_project(tmp_path, monkeypatch):
    """A project whose `make lab` serves a page, and whose `make test` notes what it meets."""
    project = tmp_path / "origin"
    project.mkdir()
    notes = Path(tempfile.mkdtemp(prefix="stridekit-"))  # where any user may write
    notes.chmod(0o777)

    def commit(word="JupyterLab", server=SERVER):
        files = {
            "README.md": README,
            "Makefile": MAKEFILE.replace("$(NOTES)", str(notes / "$$(id -u)")),
            "serve.py": server.replace("WORD", word),
        }
        for name, text in files.items():
            (project / name).write_text(text)
        git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
            subprocess.run([*git, *arguments], check=True)
        return notes

    monkeypatch.setattr(fresh_machine, "ROOT", project)
    monkeypatch.setattr(fresh_machine, "PAUSE", 0.05)
    yield commit
    shutil.rmtree(notes)


def test_a_newcomer_runs_both_commands_of_the_readme(newcomers_project, monkeypatch):
    """In a folder with a space, without other variables, and as root also as somebody else."""
    notes = newcomers_project()
    monkeypatch.setenv("STRAY", "hides a fault")
    monkeypatch.setenv("PIP_NO_INPUT", "1")
    output = Flushed()
    monkeypatch.setattr(sys, "stdout", output)
    fresh_machine.main(["a_test.py", "-x"])
    users = sorted(int(path.name) for path in notes.iterdir())
    assert users == ([0, fresh_machine.NOBODY] if os.geteuid() == 0 else [os.geteuid()])
    printed = output.shown.splitlines()  # in time, between the lines of make
    for user in users:
        arguments, *lines, user_line, folder = (
            (notes / str(user) / "tested").read_text().splitlines()
        )
        assert (arguments, user_line) == ("a_test.py -x", str(user))
        assert folder.endswith("/stride kit") and "/a stranger's " in folder
        assert not Path(folder).exists()
        variables = dict(line.partition("=")[::2] for line in lines)
        assert "STRAY" not in variables and variables["PIP_NO_INPUT"] == "1"
        home = "" if user == os.geteuid() else str(Path(folder).with_name("home"))
        assert variables["HOME"] == home
        with pytest.raises(OSError, match="refused"):  # the server has ended
            urllib.request.urlopen((notes / str(user) / "address").read_text())
        assert f"user {user}: `make lab` served the start page" in printed
        assert f"user {user}: `make test` passed" in printed


def test_a_newcomer_whose_tests_are_red_stops(newcomers_project, monkeypatch, capsys):
    newcomers_project()
    monkeypatch.setattr(fresh_machine, "users", lambda: [None])
    with pytest.raises(subprocess.CalledProcessError):
        fresh_machine.main(["red"])
    assert "passed" not in capsys.readouterr().out
    fresh_machine.main([])
    assert "`make test` passed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "server", "seconds", "error", "words"),
    [
        ("Notebook", SERVER, 900, AssertionError, None),
        ("", "print('no port is free'); exit(1)", 900, SystemExit, "no port is free"),
        (
            "",
            "import time; print('one moment', flush=True); time.sleep(4); print('too late')",
            0,
            SystemExit,
            "did not",
        ),
    ],
)
def test_a_newcomer_without_a_start_page_stops(
    newcomers_project, tmp_path, monkeypatch, word, server, seconds, error, words
):
    newcomers_project(word, server)
    monkeypatch.setattr(fresh_machine, "START_SECONDS", seconds)
    with pytest.raises(error, match=words) as stop:
        fresh_machine.clone_and_run(tmp_path, None, [])
    assert "too late" not in str(stop.value)


def test_only_root_also_becomes_somebody_else(monkeypatch):
    for user, users in ((0, [None, fresh_machine.NOBODY]), (1000, [None])):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert fresh_machine.users() == users
