# Commands for people who learn with stridekit or work on it: `make help` lists them.
# Targets that need the environment make it first. Paths are relative, so a space in a folder's name is fine.

PYTHON ?= python3
LAB_ARGS ?=
TEST_ARGS ?= $(IN_PARALLEL)
BENCH_ARGS ?=
FUZZ_ARGS ?=
MUTATE_ARGS ?=
VERSIONS ?= 2.6.0 2.9.1 2.14.1
FRESH_ARGS ?=
REFRESH_ARGS ?=
LOCK_ARGS ?=
RECORD_ARGS ?=
EXPORT_ARGS ?= notebooks -o dist/site

IN_VENV = .venv/bin/python

# One worker has the browser and spends half its time waiting; with more than four, workers wait for each other.
IN_PARALLEL = -n logical --maxprocesses=4

# Some tools take an empty HOME for the current folder; without HOME they ask the user database.
ifeq ($(strip $(HOME)),)
unexport HOME
endif

# Jupyter serves root only if told to, and has to be told if nothing can show a page.
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
SHOWS_PAGES := $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname -s))
BROWSER_FLAG := $(if $(SHOWS_PAGES),,--no-browser)

.PHONY: help env lab test test-long test-all lint fix fuzz mutate fresh versions refresh record export lock bench pictures
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' Makefile

env:  ## make .venv, or bring it up to date (the other targets do it themselves)
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "Set-up: there is no $(PYTHON) here: install Python 3.11 to 3.14, or name one:" \
	       "make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" tools/setup_env.py

lab: env  ## open the first notebook in JupyterLab (LAB_ARGS="--port 9999" and the like)
	@JUPYTER_PREFER_ENV_PATH=1 $(IN_VENV) -m jupyterlab $(ROOT_FLAG) $(BROWSER_FLAG) \
	  --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_start.ipynb \
	  --LabApp.news_url=None $(LAB_ARGS)

test: env  ## run the tests, the doctests and every notebook (TEST_ARGS="tests/test_layout.py -x")
	@$(IN_VENV) -m pytest $(TEST_ARGS)

test-long: env  ## run every test at full strength, with those that `make test` leaves out
	@$(IN_VENV) -m pytest -m "" --hypothesis-profile=long $(TEST_ARGS)

test-all: test-long fuzz mutate fresh  ## test-long, fuzz, mutate and fresh, one after the other

lint: env  ## check style and types
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy

fix: env  ## fix the style where ruff can
	$(IN_VENV) -m ruff check --fix .
	$(IN_VENV) -m ruff format .

fuzz: env  ## compare stridekit with torch, NumPy and brute force on random cases (FUZZ_ARGS="--seed 7")
	@$(IN_VENV) -m tests.fuzz $(FUZZ_ARGS)

mutate: env  ## plant defects, one at a time, to see the tests turn red (MUTATE_ARGS="a slice")
	@$(IN_VENV) tools/mutate.py $(MUTATE_ARGS)

fresh:  ## clone into a new folder, and run the README's two commands there (FRESH_ARGS="tests/test_layout.py")
	@"$(PYTHON)" tools/fresh_machine.py $(FRESH_ARGS)

versions:  ## run the package's own tests on other versions of torch (VERSIONS="2.6.0 2.14.1")
	@"$(PYTHON)" tools/torch_versions.py $(VERSIONS)

refresh: env  ## execute the notebooks and store their outputs (REFRESH_ARGS=--check only looks)
	@$(IN_VENV) tools/refresh.py $(REFRESH_ARGS)

record: env  ## measure what the lessons show as recorded: on a machine at rest (RECORD_ARGS="05 --busy" only compares)
	@$(IN_VENV) tools/record.py $(RECORD_ARGS)

export: env  ## write the lessons as web pages that need no kernel, to dist/site
	@$(IN_VENV) -m stridekit.export $(EXPORT_ARGS)

lock: env  ## write constraints.txt again (LOCK_ARGS=--upgrade for the newest versions)
	@$(IN_VENV) tools/lock.py $(LOCK_ARGS)

bench: env  ## measure the marks that stridekit sets itself
	@$(IN_VENV) tools/bench.py $(BENCH_ARGS)

pictures: env  ## take the pictures of the README again
	@$(IN_VENV) tools/pictures.py
