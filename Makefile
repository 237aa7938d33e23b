# Everything goes through .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests and benchmarks on real data need a folder with the data sets; without it they skip.
ifneq ($(wildcard ../shared/data),)
export SPANSVM_DATA ?= $(abspath ../shared/data)
endif

# Small matrices everywhere: BLAS threads only get in each other's way.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help demo test lint docs theory bench quality reproduce clean

help:
	@echo "make demo    install, show every estimate of a weighted SVM, tune one, write a report"
	@echo "make test    install what the tests need and run them"
	@echo "make coverage  the tests, and which lines of the package they do not reach"
	@echo "make lint    ruff and mypy"
	@echo "make docs    the documentation, in site/index.html; warnings are errors"
	@echo "make theory  the theorems on thousands of random problems (some minutes)"
	@echo "make quality selected models and probabilities against folds on real data (two hours)"
	@echo "make reproduce  the paper's experiments beside its numbers (an hour and a half)"
	@echo "make bench   speed as ratios to LibSVM, intelex, ThunderSVM, liquidSVM (half an hour)"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed-cli: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.installed-cli

demo: $(VENV)/.installed-cli
	$(BIN)/spansvm demo --force

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2

.PHONY: coverage
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term-missing:skip-covered

theory: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 -m theory

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.search

reproduce: $(VENV)/.installed-dev
	$(BIN)/python -m reproduction all --jobs 2 --out docs

quality: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.selection
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.values

clean:
	rm -rf $(VENV) site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
