# Everything a newcomer needs: `make demo` and `make test`. Both build their own virtual environment.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-fast lint types unit browser native-check vendor bench format clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("breadth needs Python 3.10 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)

# The core is compiled when the package is installed: again when its sources change.
CORE := CMakeLists.txt $(wildcard src/breadth/native/*.cpp src/breadth/native/*.hpp)

$(VENV)/.demo: $(BIN)/python pyproject.toml $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[text,plot]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml experiments/pyproject.toml $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e ./experiments
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/breadth demo --folder build/demo

test: lint types unit

# For daily work, in three minutes: without vector engines and their servers, and without slow tests.
test-fast: lint types browser
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m 'not engine and not slow'

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The core once more, with the sanitizers for addresses and undefined behaviour: its own tests, and those of the solver.
native-check: $(VENV)/.dev
	sh scripts/check_native.sh $(BIN)/python

types: $(VENV)/.dev
	$(BIN)/mypy

# Two processes, one thread each: the tests take half the time. A file stays in one process. The run fails if an engine
# of breadth/engines/registry.py was not exercised.
unit: $(VENV)/.dev browser
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --every-engine

# The tests of the page drive a Chromium. If there is none and none can be installed, they are skipped.
browser:
	-@sh scripts/install_browser.sh

# Fetch the plotting library of the page again.
vendor: $(BIN)/python
	$(BIN)/python scripts/vendor_uplot.py

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks core

.PHONY: docs dist

# The site of the documentation, in build/site. A warning is an error. The variable silences an announcement of the theme.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# What a release consists of, in dist/: the wheel and the source distribution of both packages, checked.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist experiments
	$(BIN)/twine check --strict dist/*

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
