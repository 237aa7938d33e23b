# What users run is installed in .venv as they would install it; what developers need is in .venv-dev,
# whose spansvm is that of this folder and builds itself again on import when a source has changed.
# Another Python beside it: make test PYTHON=python3.12 VENV=.venv-3.12
PYTHON ?= python3
VENV := .venv
DEV := .venv-dev
OLDEST := .venv-oldest
BIN := $(DEV)/bin

# Tests and benchmarks on real data need a folder with the data sets; without it they are skipped.
ifneq ($(wildcard ../shared/data),)
export SPANSVM_DATA ?= $(abspath ../shared/data)
endif

# Matrices are small: BLAS threads only get in each other's way.
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DELETE_ON_ERROR:
.PHONY: help demo test dev full peers oldest coverage lint docs figures screens theory mutations bench \
	quality reproduce clean

help:
	@echo "make demo       install, tune a model on built-in data, write a report, show every estimate"
	@echo "make test       install what the tests need and run them"
	@echo "make dev        the environment of developers, .venv-dev: all below run in it"
	@echo "make full       the tests with every package that any of them needs"
	@echo "make peers      run scikit-learn's own tests of SVC and its searches against our classes"
	@echo "make oldest     run the tests with the oldest versions that pyproject.toml allows"
	@echo "make coverage   run the tests and list the lines they do not reach, compiled ones included"
	@echo "make portable   run the tests with the kernels of other processors (an hour)"
	@echo "make numerical  the same for the numerical tests and the oldest processor (minutes)"
	@echo "make checked    the tests of the core with every index of a memory view checked (minutes)"
	@echo "make sanitized  the same under AddressSanitizer and UBSan: reads and writes outside arrays"
	@echo "make statements check what tune says of public files against scikit-learn (minutes each)"
	@echo "make lint       run ruff, mypy, import-linter, and zizmor on the workflows"
	@echo "make docs       build the documentation, site/index.html; warnings are errors"
	@echo "make figures    draw the pictures of the documentation, write measured numbers into its pages"
	@echo "make screens    pictures of the command line and of a report, in a browser (chromium)"
	@echo "make wheel      build the distributions, check them, try the wheels where there is no compiler"
	@echo "make theory     check the theorems on thousands of random problems (a few minutes)"
	@echo "make mutations  put errors into the core and list those the tests miss (an hour)"
	@echo "make bench      speed relative to GridSearchCV, LibSVM, liquidSVM, TorchKM (two hours)"
	@echo "make quality    selected models, reported errors, probabilities; real data (four hours)"
	@echo "make reproduce  run the paper's experiments, next to its numbers (an hour and a half)"
	@echo "make clean      delete the environments and everything that was built"

# Twice quiet: errors, with what a compiler said, and that the network is tried again; no warnings of pip.
pip_install = $(1)/bin/python -m pip install --quiet --quiet --no-compile

# A C compiler from PyPI, where there is none: pip builds in an environment of its own, in which a
# Python finds what is installed here only if it is told to look nowhere else (-I).
ifeq ($(origin CC)$(shell command -v cc || command -v gcc || command -v clang),default)
zig = ['$(abspath $(1))/bin/python', '-I', '-m', 'ziglang',
install_compiler = $(call pip_install,$(1)) ziglang && printf '%s\n' "[binaries]" \
	"c = $(zig) 'cc', '-mcpu=baseline']" "ar = $(zig) 'ar']" >$(1)/zig.ini
compiled_with = --config-settings=setup-args=--native-file=$(abspath $(1))/zig.ini
endif

%/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON): Debian, Ubuntu: apt install" \
		"python3 python3-venv python3-dev; Fedora: dnf install python3-devel"; exit 1; }
	@$(PYTHON) tools/prerequisites.py
	$(PYTHON) -m venv $*
	@$(call pip_install,$*) --upgrade "pip>=25.1"
	@$(call install_compiler,$*)

# What is installed is built from these: it is installed again when one of them has changed.  The
# application, in app, is a distribution of its own.
SOURCES := pyproject.toml meson.build meson.options app/pyproject.toml \
	$(shell find src app/src -not -path "*__pycache__*")

$(VENV)/.installed: $(SOURCES) | $(VENV)/bin/python
	$(call pip_install,$(VENV)) $(call compiled_with,$(VENV)) ".[reproduction]" "./app[excel]"
	@touch $@

$(VENV)/.tests: pyproject.toml $(VENV)/.installed
	$(call pip_install,$(VENV)) --group test
	@touch $@

# The environment of developers.  Processes that import spansvm at the same time take turns to build it:
# meson finds ninja by a variable, which every Python of this environment sets.  LIBSVM's own package has
# to be compiled, as C++; without it the tests that need it are skipped.
build_in = PATH="$(abspath $(1))/bin:$$PATH" $(call pip_install,$(1)) --no-build-isolation \
	--config-settings=build-dir=$(2) $(call compiled_with,$(1))
TURN := import os, sys; os.environ.setdefault("NINJA", sys.prefix + "/bin/ninja-in-turn")

dev: $(DEV)/.installed

$(DEV)/.installed: pyproject.toml app/pyproject.toml tests/ninja_in_turn.py | $(DEV)/bin/python
	rm -rf $(DEV)/build*
	$(call pip_install,$(DEV)) --group dev $(if $(shell command -v c++ || command -v g++),--group libsvm)
	@cp tests/ninja_in_turn.py $(BIN)
	@printf '%s\n' '#!/bin/sh' 'bin="$(abspath $(BIN))"; exec "$$bin/python" -IS "$$bin/ninja_in_turn.py" "$$@"' \
		>$(BIN)/ninja-in-turn && chmod +x $(BIN)/ninja-in-turn
	@echo '$(TURN)' >"$$($(BIN)/python -c 'import sysconfig as s; print(s.get_path("purelib"))')/ninja.pth"
	$(call build_in,$(DEV),$(DEV)/build) --editable ".[reproduction,dask]" --editable "./app[excel]"
	@touch $@

$(OLDEST)/.installed: pyproject.toml app/pyproject.toml tests/oldest.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || \
		{ echo "The oldest versions need Python 3.10 or 3.11: make oldest PYTHON=python3.10"; exit 1; }
	rm -rf $(OLDEST)
	@$(MAKE) $(OLDEST)/bin/python
	$(call pip_install,$(OLDEST)) --constraint tests/oldest.txt --group build --group docs --group peers --group test
	$(call build_in,$(OLDEST),$(OLDEST)/build) --constraint tests/oldest.txt ".[reproduction,dask]" "./app[excel]"
	@touch $@

demo: $(VENV)/.installed
	$(VENV)/bin/python examples/demo.py --force

test: $(VENV)/.tests
	$(VENV)/bin/python -m pytest -n auto --maxprocesses=8

full: $(DEV)/.installed
	$(BIN)/python -m pytest -n 2

peers: $(DEV)/.installed
	$(BIN)/python -m tests.peers -n 2
	SPANSVM_PEERS=default $(BIN)/python -m tests.peers -n 2 -k test_search

oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -n 2

.PHONY: portable numerical
portable: $(DEV)/.installed
	$(BIN)/python tests/portable.py

numerical: $(DEV)/.installed
	$(BIN)/python tests/portable.py nehalem -- -m "not (plumbing or long or theory)"

# Without a check, an index beyond an array reads or writes whatever is there.
CORE := multiclass/verified multiclass/together multiclass/path multiclass/left_out algebra/qp \
	algebra/hull core/inverse core/linalg core/removal machine/dual machine/span machine/loo \
	machine/groups machine/degenerate machine/scales machine/tube regression/paths \
	regression/left_out_targets regression/intervals
CORE_TESTS := $(foreach test,$(CORE),tests/$(dir $(test))test_$(notdir $(test)).py)

# The package built in another way, beside the one that is installed, and Python with it.
built = $(call build_in,$(DEV),$(DEV)/build-$(1)) --config-settings=setup-args=-D$(1)=true \
	--no-deps --upgrade --target $(DEV)/$(1) . && \
	$(call with,$(1)) -c 'from importlib.util import find_spec as f; s = f("spansvm"); \
	assert "$(DEV)/$(1)/" in s.origin, s'
with = MESONPY_EDITABLE_SKIP=$(abspath $(DEV)/build) PYTHONPATH=$(abspath $(DEV)/$(1)) $(2) \
	$(BIN)/python

.PHONY: checked sanitized
checked: $(DEV)/.installed
	$(call built,checked)
	$(call with,checked) -m pytest -n 2 -m "not (long or theory)" $(CORE_TESTS)

# Errors end the process that makes them.  A failed allocation is to be a MemoryError; Python keeps
# memory to its end, so leaks are not looked for.  pytest must leave the standard error alone.
REPORT := $(abspath $(DEV))/sanitizer
sanitized_by = PYTHONMALLOC=malloc \
	LD_PRELOAD="$(foreach name,libasan libstdc++,$(shell $(CC) -print-file-name=$(name).so))" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$(REPORT)
sanitized: $(DEV)/.installed
	rm -f $(REPORT).*
	$(call built,sanitized)
	$(call with,sanitized,$(sanitized_by)) -m pytest -n 2 -m "not (long or theory)" --capture=sys \
		$(CORE_TESTS) || \
		{ grep -hE "ERROR|located|allocated|spansvm" $(REPORT).*; exit 1; }

coverage: $(DEV)/.installed
	$(call built,traced)
	find $(DEV)/build-traced -name "*.gcda" -delete
	$(call with,traced) -m pytest -n 2 --cov --cov-report=term-missing:skip-covered $(TESTS)
	$(BIN)/python tests/traced.py $(DEV)/build-traced

# Distributions of what is committed, checked, and the wheels tried where there is no compiler: the only
# programs on the path are those of the environment.  First the library by itself, then the application.
WHEEL := .wheel
.PHONY: wheel
wheel:
	rm -rf dist $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)/tools
	$(call pip_install,$(WHEEL)/tools) --upgrade pip
	$(call pip_install,$(WHEEL)/tools) --group release
	$(WHEEL)/tools/bin/python -m build
	$(WHEEL)/tools/bin/python -m build --outdir dist app
	$(WHEEL)/tools/bin/python -m twine check --strict dist/*
	$(WHEEL)/tools/bin/check-wheel-contents dist/*.whl
	@[ "$$(uname)" != Linux ] || $(WHEEL)/tools/bin/auditwheel show dist/spansvm-*.whl
	$(PYTHON) -m venv $(WHEEL)/clean
	PATH="$(abspath $(WHEEL))/clean/bin" python -m pip install --quiet --only-binary :all: dist/spansvm-*.whl
	PATH="$(abspath $(WHEEL))/clean/bin" python -I tests/smoke.py
	$(PYTHON) -m venv $(WHEEL)/application
	PATH="$(abspath $(WHEEL))/application/bin" python -m pip install --quiet --only-binary :all: dist/*.whl
	cd $(WHEEL) && PATH="$(abspath $(WHEEL))/application/bin" && spansvm --version && spansvm demo --force

theory: $(DEV)/.installed
	$(BIN)/python -m pytest -n 2 -m theory

# SPANSVM_PUBLIC names a folder of files, whose README says what their targets are: NAME -> TARGET.
.PHONY: statements
statements: $(DEV)/.installed
	$(BIN)/python -m tests.statements

mutations: $(DEV)/.installed
	$(BIN)/python tests/mutations.py --jobs 2

lint: $(DEV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MESONPY_EDITABLE_SKIP=$(abspath $(DEV)/build) PYTHONPATH=src:app/src $(BIN)/lint-imports
	$(BIN)/zizmor --quiet --offline --strict-collection --pedantic .github

docs: $(DEV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

figures: $(DEV)/.installed
	$(BIN)/python -m docs.figures

screens: $(DEV)/.installed
	$(BIN)/python -m docs.figures.screens

bench: $(DEV)/.installed
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.users
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.tutorials
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.large
	$(BIN)/python -m benchmarks.torchkm 1000

reproduce: $(DEV)/.installed
	$(BIN)/python -m reproduction all --jobs 2 --out docs

quality: $(DEV)/.installed
	$(BIN)/python -m benchmarks.selection
	$(BIN)/python -m benchmarks.defaults
	$(BIN)/python -m benchmarks.corrected
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.agreeing
	$(BIN)/python -m benchmarks.delivered
	$(BIN)/python -m benchmarks.values
	$(BIN)/python -m benchmarks.groups
	$(BIN)/python -m benchmarks.counted
	$(BIN)/python -m benchmarks.chosen
	$(BIN)/python -m benchmarks.promised

clean:
	rm -rf $(VENV) $(DEV) $(OLDEST) $(WHEEL) build dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .portable
