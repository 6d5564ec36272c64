# make demo    draw a picture: the quickest look at what supple does
# make test    everything that must hold: check, the tests compiled and interpreted, short runs of broken files, random scenes and mixed questions
# make check   style, types, layers, documentation
# make docs    the documentation as HTML in build/docs
# make bench   the benchmarks, with a table each
# make papers  the experiments of the papers behind the methods, and their pages in docs/papers; QUICK=1 in minutes
# make wheel   wheels for dist: with machine code for this Python and platform, and pure; and the sdist
# make release-check   whether all is ready for a release
# make clean   remove everything that these commands made
#
# Another Python: make PYTHON=python3.12 test. Options for pytest: make PYTEST_ARGS="-x -k goals" test.

PYTHON      ?= python3
PYTEST_ARGS ?= -n auto
FUZZ_COUNT  ?= 400
SCENE_COUNT ?= 60
SOAK_COUNT  ?= 30000

BIN   := .venv/bin
PIP   := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input
SETUP := pyproject.toml

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check docs bench papers wheel release-check clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

# ------------------------------------------------------------------------------------------------------- set-up
# Stamps: each set-up happens once, and again when pyproject.toml changes.
$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "supple: no $(PYTHON) on the path; install Python 3.11 to 3.14, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || { \
	  echo "supple: needs Python 3.11 to 3.14, not $$($(PYTHON) -V 2>&1 | head -n 1); name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "supple: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "supple: making .venv with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "supple: $(PYTHON) could not make .venv; try another: make PYTHON=python3.12" >&2; exit 1; }

.venv/.user-stamp: $(SETUP) | $(BIN)/python
	@echo "supple: installing the library"
	@$(PIP) install --editable '.[view]'
	@touch $@

.venv/.dev-stamp: $(SETUP) | $(BIN)/python
	@echo "supple: installing the library and the tools of its developers (once; a few minutes)"
	@$(PIP) install --editable '.[dev]'
	@touch $@ .venv/.user-stamp

.venv/.release-stamp: $(SETUP) .venv/.dev-stamp
	@$(PIP) install --editable '.[release]'
	@touch $@

# ---------------------------------------------------------------------------------------------------------- use
demo: .venv/.user-stamp
	@mkdir -p build/demo
	@cd build/demo && MPLBACKEND=Agg ../../$(BIN)/python ../../examples/00_demo.py
	@for picture in build/demo/*.png; do echo "picture: $(CURDIR)/$$picture"; done
	@echo "pose it by hand: $(BIN)/supple edit"

# -------------------------------------------------------------------------------------------------------- proof
test: check
	$(BIN)/python -m pytest -q $(PYTEST_ARGS)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q $(PYTEST_ARGS) -m interpreted
	$(BIN)/python fuzz/run.py --count $(FUZZ_COUNT)
	$(BIN)/python fuzz/osim.py --count $(FUZZ_COUNT) --format osim
	$(BIN)/python fuzz/mjcf.py --count $(FUZZ_COUNT) --format mjcf
	$(BIN)/python fuzz/scenes.py --count $(SCENE_COUNT)
	$(BIN)/python fuzz/soak.py --count $(SOAK_COUNT)

check: .venv/.dev-stamp
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache --no-logo
	@$(MAKE) --no-print-directory docs

docs: .venv/.dev-stamp
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo "documentation: $(CURDIR)/build/docs/index.html"

bench: .venv/.dev-stamp
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/convergence.py --folder build/benchmarks
	$(BIN)/python benchmarks/tube.py
	$(BIN)/python fuzz/run.py --count 20000
	$(BIN)/python fuzz/scenes.py --count 10000 --workers 2
	$(BIN)/python fuzz/soak.py --count 100000 --workers 2

papers: .venv/.dev-stamp
	$(BIN)/python benchmarks/papers/run.py $(if $(QUICK),--quick)

# ------------------------------------------------------------------------------------------------------ release
# Machine code is compiled again only where sources have changed: build/cache has what was compiled before.
wheel: .venv/.release-stamp
	rm -rf dist
	$(BIN)/python packaging/machine_code.py build/machine_code
	$(BIN)/python -m build --outdir dist
	SUPPLE_MACHINE_CODE=$(CURDIR)/build/machine_code $(BIN)/python -m build --wheel --outdir dist
	@ls -l dist

release-check: .venv/.release-stamp
	$(BIN)/python packaging/release_check.py

clean:
	rm -rf .venv build dist .pytest_cache .hypothesis .ruff_cache .import_linter_cache
	find src tests examples benchmarks docs fuzz -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
