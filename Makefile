# Commands for people who learn with stridekit or work on it: `make help` lists them.
# Targets that need the environment make it first. Paths are relative, so folder names may contain spaces.

PYTHON ?= python3
LAB_ARGS ?=
TEST_ARGS ?= $(IN_PARALLEL)
BENCH_ARGS ?=
FUZZ_ARGS ?=
MUTATE_ARGS ?=
VERSIONS ?= 2.6.0 2.9.1 2.14.1
VERSIONS_ARGS ?=
FRESH_ARGS ?=
REFRESH_ARGS ?=
LOCK_ARGS ?=
RECORD_ARGS ?=
EXPORT_ARGS ?= notebooks -o dist/site

IN_VENV = .venv/bin/python

# The doctests of the core, which belong to its tests.
CORE_DOCTESTS := $(addprefix stridekit/,layout.py rules.py elementwise.py memory tensors audit cost)

IN_PARALLEL = -n auto

# Some tools take an empty HOME as the current folder; without HOME they ask the user database.
ifeq ($(strip $(HOME)),)
unexport HOME
endif

# Jupyter serves root only if told to, and has to be told if nothing can show a page.
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
SHOWS_PAGES := $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname -s))
BROWSER_FLAG := $(if $(SHOWS_PAGES),,--no-browser)

.PHONY: help env lab test test-core test-long test-all lint fix sizes fuzz mutate fresh versions refresh record export lessons lock dist bench pictures
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' Makefile

# The environment -------------------------------------------------------------------------------------------------
# venv and pip make .venv; .venv/done holds the folder for which they finished, .venv/log holds pip's words. A set-up
# that was interrupted starts over, and so does a .venv that was moved or whose Python is gone.

FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
WANTED := Python 3.11 to 3.14: install one, or name one: make PYTHON=/path/to/python3
OFFLINE := establish a new connection|NameResolution|name resolution|unreachable|timed out|ProxyError|Connection (refused|reset|broken)
STALE := $(shell .venv/bin/python -c 'import pip; $(FITS)' 2>/dev/null && [ "$$(cat .venv/done 2>/dev/null)" = "$$(pwd -P)" ] || echo stale)

.venv/done: pyproject.toml constraints.txt $(wildcard labextension/*.json labextension/static/*) $(STALE)
	@stop() { echo "Set-up: $$*" >&2; exit 1; }; \
	for python in "$(PYTHON)" python3.13 python3.12 python3.11 python3.14 ""; do \
	  if "$$python" -c '$(FITS)' 2>/dev/null; then break; fi; done; \
	if [ -z "$$python" ]; then \
	  command -v "$(PYTHON)" >/dev/null || stop "there is no $(PYTHON) here, and no other $(WANTED)"; \
	  stop "$(PYTHON) is $$("$(PYTHON)" --version 2>&1 | tail -n 1), and there is no $(WANTED)"; fi; \
	"$$python" -c 'import venv, ensurepip' 2>/dev/null || \
	  stop "$$python cannot make environments: on Debian and Ubuntu, apt install $$("$$python" -c \
	    'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); elsewhere, install a full Python"; \
	if [ -e .venv/started ] || ! .venv/bin/python -c 'import pip; $(FITS)' 2>/dev/null || \
	  { [ -e .venv/done ] && [ "$$(cat .venv/done)" != "$$(pwd -P)" ]; }; then \
	  echo "Making .venv with $$("$$python" --version): a minute or more, a large download"; \
	  rm -rf .venv && mkdir .venv && touch .venv/started && "$$python" -m venv .venv >.venv/log 2>&1 || \
	    stop "venv failed: $$(tail -n 1 .venv/log)"; \
	else echo "Bringing .venv up to date with pyproject.toml and constraints.txt"; fi; \
	.venv/bin/python -m pip install --no-input --progress-bar=off -c constraints.txt -e ".[test]" \
	  >.venv/log 2>&1 </dev/null || { \
	  if grep -Eqi '$(OFFLINE)' .venv/log; then \
	    stop "pip cannot reach its package index: check the network, the proxy and \`pip config list\`, then try again"; \
	  else stop "pip failed: $$(grep -i error .venv/log | tail -n 1) (its other words are in .venv/log)"; fi; }; \
	rm -f .venv/started; pwd -P >.venv/done

.venv/bin/uv: .venv/done
	@$(IN_VENV) -m pip install --quiet uv

.PHONY: stale
env: .venv/done  ## make .venv, or bring it up to date (the other targets do it themselves)

# What people call ------------------------------------------------------------------------------------------------

lab: .venv/done  ## open the first notebook in JupyterLab (LAB_ARGS="--port 9999" and the like)
	@JUPYTER_PREFER_ENV_PATH=1 $(IN_VENV) -m jupyterlab $(ROOT_FLAG) $(BROWSER_FLAG) \
	  --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_start.ipynb \
	  --LabApp.news_url=None $(LAB_ARGS)

test: .venv/done  ## run the tests, the doctests and every notebook (TEST_ARGS="tests/core/test_layout.py -x")
	@$(IN_VENV) -m pytest $(TEST_ARGS)

test-core: .venv/done  ## run the tests of the package alone: no browser, no node, no notebook
	@$(IN_VENV) -m pytest $(TEST_ARGS) tests/core $(CORE_DOCTESTS)

test-long: .venv/done  ## run every test at full strength, with those that `make test` leaves out
	@$(IN_VENV) -m pytest -m "not planted" --hypothesis-profile=long $(TEST_ARGS)

test-all: test-long fuzz fresh  ## test-long, fuzz and fresh, one after the other

lint: .venv/done  ## check style and types
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy

fix: .venv/done  ## fix the style where ruff can
	$(IN_VENV) -m ruff check --fix .
	$(IN_VENV) -m ruff format .

sizes: .venv/done  ## print the lines and the tokens of each part
	@$(IN_VENV) tools/sizes.py

fuzz: .venv/done  ## compare stridekit with torch, NumPy and brute force on random cases (FUZZ_ARGS="--hypothesis-seed=7")
	@$(IN_VENV) -m pytest tests/core/test_fuzz.py tests/course/test_live.py --hypothesis-profile=fuzz $(IN_PARALLEL) $(FUZZ_ARGS)

mutate: .venv/done  ## plant defects, one at a time, to see the tests turn red (MUTATE_ARGS="-k a_slice")
	@$(IN_VENV) -m pytest tests/course/test_mutate.py -m planted $(IN_PARALLEL) $(MUTATE_ARGS)

fresh:  ## clone into a new folder, and run the README's two commands there (FRESH_ARGS="tests/core/test_layout.py")
	@"$(PYTHON)" tools/fresh_machine.py $(FRESH_ARGS)

versions: .venv/bin/uv  ## run the package's own tests on other versions of torch (VERSIONS="2.6.0 2.14.1")
	@for version in $(VERSIONS); do .venv/bin/uv run --no-project --with torch==$$version --with-editable ".[export]" \
	  --with pytest,hypothesis,einops,safetensors,onnx $(VERSIONS_ARGS) python -m pytest -q -rs --doctest-modules \
	  -p no:cacheprovider -o addopts= -m "not long" --deselect="tests/core/test_fuzz.py::test_family[sdpa]" \
	  tests/core $(CORE_DOCTESTS) || failed="$$failed $$version"; \
	done; [ -z "$$failed" ] || { echo "fails on torch$$failed" >&2; exit 1; }

refresh: .venv/done  ## execute the notebooks and store their outputs (REFRESH_ARGS=--check only looks)
	@$(IN_VENV) tools/refresh.py $(REFRESH_ARGS)

record: .venv/done  ## measure what the lessons show as recorded: on a machine at rest (RECORD_ARGS=notebooks/05_performance.ipynb)
	@$(IN_VENV) tools/refresh.py --record $(RECORD_ARGS)

export: .venv/done  ## write the lessons as web pages that need no kernel, to dist/site
	@$(IN_VENV) -m stridekit.export $(EXPORT_ARGS)

lessons: .venv/done  ## write the lessons for Colab and VS Code, without outputs and answers, to dist/lessons
	@$(IN_VENV) tools/lessons.py $(LESSONS_ARGS)

lock: .venv/bin/uv  ## write constraints.txt again (LOCK_ARGS=--upgrade for the newest versions)
	@.venv/bin/uv pip compile pyproject.toml --output-file=constraints.txt --extra=test --universal \
	  --python-version=3.11 --strip-extras --no-annotate --custom-compile-command="make lock" \
	  --no-emit-index-url --no-emit-find-links --quiet $(LOCK_ARGS)

dist:  ## build the wheel and the sdist, check them, and try each in an empty environment
	@rm -rf dist/*.whl dist/*.tar.gz build/tried
	@"$(PYTHON)" -m venv build/tried/tools && build/tried/tools/bin/python -m pip install --quiet build twine
	@build/tried/tools/bin/python -m build --outdir dist . >build/tried/log || { cat build/tried/log; exit 1; }
	@build/tried/tools/bin/python -m twine check --strict dist/*.whl dist/*.tar.gz
	@for made in dist/*.whl dist/*.tar.gz; do \
	  "$(PYTHON)" -m venv --clear build/tried/empty && \
	  build/tried/empty/bin/python -m pip install --quiet -c constraints.txt "$$made" && \
	  (cd build/tried && empty/bin/python -W error::DeprecationWarning:stridekit ../../tools/try_package.py) || exit 1; done

bench: .venv/done  ## measure the marks that stridekit sets itself
	@$(IN_VENV) tools/bench.py $(BENCH_ARGS)

pictures: .venv/done  ## take the pictures of the README again
	@$(IN_VENV) tools/pictures.py
