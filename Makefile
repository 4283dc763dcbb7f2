# Commands for people who learn with stridekit or work on it: `make help` lists them.
# Targets that need the environment make it first. Paths are relative, so folder names may contain spaces.

PYTHON ?= python3
LAB_ARGS ?=
TEST_ARGS ?= $(IN_PARALLEL)
BENCH_ARGS ?=
FUZZ_ARGS ?=
MUTATE_ARGS ?=
PART ?= core
SEED ?= 0
VERSIONS ?= 2.6.0 2.9.1 2.14.1
VERSIONS_ARGS ?=
RESOLUTION ?= lowest-direct
EXTRA ?= widgets
FRESH_ARGS ?=
REFRESH_ARGS ?=
LOCK_ARGS ?=
RECORD_ARGS ?=
EXPORT_ARGS ?= notebooks -o dist/site
LESSONS_ARGS ?=

IN_VENV = .venv/bin/python
UV = build/uv/bin/uv

# The tests of the core: the packages that they need, their arguments in other environments, and the doctests.
CORE_NEEDS = pytest hypothesis import-linter setuptools einops safetensors onnx matplotlib pillow
CORE_ARGS = -q -rs --doctest-modules -p no:cacheprovider -o addopts= -m "not long"
CORE_DOCTESTS := $(addprefix stridekit/,layout.py rules.py elementwise.py memory tensors audit cost)

# These make all widgets and drive them, and need no other package than the widgets do.
WIDGET_TESTS := $(addprefix tests/course/,test_widgets.py test_shared_state.py)

IN_PARALLEL = -n auto

# With an empty HOME, some tools write into the current folder; without HOME they ask the user database.
ifeq ($(strip $(HOME)),)
unexport HOME
endif

# Jupyter does not run as root without --allow-root. Without a display it must not try to open a browser.
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
SHOWS_PAGES := $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname -s))
BROWSER_FLAG := $(if $(SHOWS_PAGES),,--no-browser)

# Defaults of JupyterLab's settings, behind those of the reader: no notice lies over the first widget.
CONFIG_PATH := $(if $(JUPYTER_CONFIG_PATH),$(JUPYTER_CONFIG_PATH):)stridekit/jupyter

.PHONY: help env lab test test-core test-long test-all lint fix sizes fuzz mutate fresh versions bounds colab refresh record export lessons lock dist bench pictures
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' Makefile

# The environment -------------------------------------------------------------------------------------------------
# tools/environment.sh makes .venv, and updates it when one of these inputs is newer than its stamp. `make lab` needs
# the packages of the lessons, has-lab; the other targets need those of the tests, too, has-test. `stale` stands for an
# environment that does not work as it is: it was interrupted or moved, or its Python is gone.

STALE := $(shell sh tools/environment.sh --is-ready || echo stale)

.venv/has-lab .venv/has-test: .venv/has-%: pyproject.toml constraints.txt $(wildcard labextension/*.json labextension/static/*) $(STALE)
	@sh tools/environment.sh "$(PYTHON)" $*

$(UV):
	@"$(PYTHON)" -m venv build/uv
	@build/uv/bin/python -m pip install --quiet uv

# Only `make lint` and `make fix` need npm. `npm ci` installs what package-lock.json names.
node_modules/.package-lock.json: package-lock.json
	@if ! command -v npm >/dev/null; then \
	  echo "npm, which installs the checks of JavaScript, is missing: on Debian and Ubuntu, apt install npm" >&2; \
	  exit 1; \
	fi
	npm ci
	@touch $@

.PHONY: stale
env: .venv/has-test  ## make .venv, or bring it up to date (the other targets do it themselves)

# What people call ------------------------------------------------------------------------------------------------

lab: .venv/has-lab  ## open the first notebook in JupyterLab (LAB_ARGS="--port 9999" and the like)
	@$(IN_VENV) -m stridekit.widgets.saved .venv/share/jupyter/labextensions/stridekit/static/widgets
	@JUPYTER_PREFER_ENV_PATH=1 JUPYTER_CONFIG_PATH="$(CONFIG_PATH)" \
	  $(IN_VENV) -m jupyterlab $(ROOT_FLAG) $(BROWSER_FLAG) \
	  --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_start.ipynb $(LAB_ARGS)

test: .venv/has-test  ## run the tests, the doctests and every notebook (TEST_ARGS="tests/core/test_layout.py -x")
	@$(IN_VENV) -m pytest $(TEST_ARGS)

test-core: .venv/has-test  ## run the tests of the package alone: no browser, no node, no notebook
	@$(IN_VENV) -m pytest $(TEST_ARGS) tests/core $(CORE_DOCTESTS)

test-long: .venv/has-test  ## run every test at full strength, with those that `make test` leaves out
	@$(IN_VENV) -m pytest -m "" --hypothesis-profile=long $(TEST_ARGS)

test-all: test-long fuzz fresh  ## test-long, fuzz and fresh, one after the other

lint: .venv/has-test node_modules/.package-lock.json  ## check style and types of Python, JavaScript and CSS
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy
	npm run --silent lint

fix: .venv/has-test node_modules/.package-lock.json  ## fix the style where ruff and Biome can
	$(IN_VENV) -m ruff check --fix --exit-zero .
	$(IN_VENV) -m ruff format .
	npm run --silent fix

sizes: .venv/has-test  ## print the lines and the tokens of each part
	@$(IN_VENV) tools/sizes.py

fuzz: .venv/has-test  ## compare stridekit with torch, NumPy and brute force on random cases (FUZZ_ARGS="--hypothesis-seed=7")
	@$(IN_VENV) -m pytest tests/core/test_fuzz.py tests/course/test_live.py --hypothesis-profile=fuzz $(IN_PARALLEL) $(FUZZ_ARGS)

mutate: .venv/has-test  ## plant a sample of defects in a part, to see tests turn red (PART=audit SEED=7 MUTATE_ARGS="--count 20")
	@$(IN_VENV) tools/mutate.py "$(PART)" --seed $(SEED) $(MUTATE_ARGS)

fresh:  ## clone into a new folder, and run the README's two commands there (FRESH_ARGS="tests/core/test_layout.py")
	@"$(PYTHON)" tools/fresh_machine.py $(FRESH_ARGS)

versions: $(UV)  ## run the package's own tests on other versions of torch (VERSIONS="2.6.0 2.14.1")
	@failed=; \
	for version in $(VERSIONS); do \
	  $(UV) run --no-project --with torch==$$version --with-editable . \
	    $(addprefix --with ,$(CORE_NEEDS)) $(VERSIONS_ARGS) \
	    python -m pytest $(CORE_ARGS) tests/core $(CORE_DOCTESTS) \
	    || failed="$$failed $$version"; \
	done; \
	if [ -n "$$failed" ]; then echo "fails on torch$$failed" >&2; exit 1; fi

bounds: $(UV)  ## run the tests of the core and the widgets on the lowest versions of all packages (RESOLUTION=highest EXTRA=lab)
	@$(UV) venv --quiet --clear --python "$(PYTHON)" build/bounds
	@$(UV) pip install --quiet --python build/bounds --resolution $(RESOLUTION) --requirement pyproject.toml --extra $(EXTRA)
	@$(UV) pip install --quiet --python build/bounds --no-deps --editable .
	@$(UV) pip install --quiet --python build/bounds $(CORE_NEEDS)
	@$(UV) pip list --quiet --python build/bounds | grep -Ei "^(torch|numpy|quickjs-ng|anywidget|ipywidgets|matplotlib|pillow|jupyterlab) "
	@build/bounds/bin/python -m pytest $(CORE_ARGS) tests/core $(CORE_DOCTESTS) $(WIDGET_TESTS)

colab: .venv/has-test  ## run every lesson as Colab does, with a wheel of this checkout (PYTHON=python3.12: 3.11 or 3.12)
	@$(IN_VENV) tools/colab.py "$(PYTHON)"

refresh: .venv/has-test  ## execute the notebooks and store their outputs (REFRESH_ARGS=--check only looks)
	@$(IN_VENV) tools/refresh.py $(REFRESH_ARGS)

record: .venv/has-test  ## measure what the lessons show as recorded: on a machine at rest (RECORD_ARGS=notebooks/05_performance.ipynb)
	@$(IN_VENV) tools/refresh.py --record $(RECORD_ARGS)

export: .venv/has-test  ## write the lessons as web pages that need no kernel, to dist/site
	@$(IN_VENV) -m stridekit.export $(EXPORT_ARGS)

lessons: .venv/has-test  ## write the lessons for Colab and VS Code, without outputs and answers, to dist/lessons
	@$(IN_VENV) tools/lessons.py $(LESSONS_ARGS)

lock: $(UV)  ## write constraints.txt again (LOCK_ARGS=--upgrade for the newest versions)
	@$(UV) pip compile pyproject.toml --output-file=constraints.txt --extra=test --universal \
	  --python-version=3.11 --strip-extras --no-annotate --custom-compile-command="make lock" \
	  --no-emit-index-url --no-emit-find-links --quiet $(LOCK_ARGS)

dist:  ## build the wheel and the sdist, check them, and try each, and the extras, in empty environments
	@rm -rf dist/*.whl dist/*.tar.gz build/tried
	@"$(PYTHON)" -m venv build/tried/tools
	@build/tried/tools/bin/python -m pip install --quiet build twine
	@build/tried/tools/bin/python -m build --outdir dist . >build/tried/log || { cat build/tried/log; exit 1; }
	@build/tried/tools/bin/python -m twine check --strict dist/*.whl dist/*.tar.gz
	@set -e; \
	wheel=$$(echo dist/*.whl); \
	for package in "$$wheel" "$$wheel[widgets]" "$$wheel[lab]" dist/*.tar.gz; do \
	  "$(PYTHON)" -m venv --clear build/tried/empty; \
	  build/tried/empty/bin/python -m pip install --quiet -c constraints.txt "$$package"; \
	  (cd build/tried; empty/bin/python -W error::DeprecationWarning:stridekit ../../tools/try_package.py "$$package"); \
	done

bench: .venv/has-test  ## measure the marks that stridekit sets itself (BENCH_ARGS=--picture draws docs/memory-sets.png again)
	@$(IN_VENV) tools/bench.py $(BENCH_ARGS)

pictures: .venv/has-test  ## take the pictures of the README again
	@$(IN_VENV) tools/pictures.py
