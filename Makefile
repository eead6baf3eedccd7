# Everything a newcomer needs: `make demo` and `make test`. Both build their own virtual environment.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-fast lint types kernels unit browser vendor bench format clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("breadth needs Python 3.10 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[text,plot]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml experiments/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e ./experiments
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/breadth demo --folder build/demo

test: lint types unit

# For daily work, in three minutes: without vector engines and their servers, and without slow tests.
test-fast: lint types browser kernels
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m 'not engine and not slow'

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Compile the inner loops once, before several processes want them.
kernels: $(VENV)/.dev
	$(BIN)/python -c 'from breadth import kernels; kernels.current()'

types: $(VENV)/.dev
	$(BIN)/mypy

# Two processes, one thread each: the tests take half the time. A file stays in one process. The run fails if an engine
# of breadth/engines/registry.py was not exercised.
unit: $(VENV)/.dev browser kernels
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
