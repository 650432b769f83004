# A fresh machine needs Python 3.11 or newer, git and make; everything else is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test lint prove bench docs clean

help:
	@echo "make demo    learn digits; the model, a picture and a report of how good it is, in demo/"
	@echo "make test    the tests, on two processes"
	@echo "make lint    ruff, mypy and the order of imports"
	@echo "make prove   the slow proofs, and the planted bugs that the tests must catch"
	@echo "make bench   speed against peers and the bare matrix products, into docs/results/speed.md"
	@echo "make docs    the documentation, into site/"
	@echo "make clean   remove what the other targets wrote, except $(VENV)"

demo: $(VENV)/has-package
	$(BIN)/harmonium demo

test: $(VENV)/has-test
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/has-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

prove: $(VENV)/has-test
	$(BIN)/python tests/record.py

bench: $(VENV)/has-peers
	$(BIN)/python -m benchmarks --write

docs: $(VENV)/has-docs
	$(BIN)/mkdocs build --strict --site-dir site

clean:
	rm -rf demo site dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: what is in the environment, and since which pyproject.toml. A second call installs nothing.

$(VENV)/has-python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "No '$(PYTHON)' here. Harmonium needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Harmonium needs Python 3.11 or newer; '$(PYTHON)' is `$(PYTHON) --version 2>&1`."; \
	  echo "Name a newer one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/has-package: pyproject.toml | $(VENV)/has-python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/has-%: pyproject.toml | $(VENV)/has-python
	$(INSTALL) --editable ".[$*]"
	@touch $@
