# Everything runs in .venv, which the first target that needs it creates. Another Python beside it:
# make test PYTHON=python3.12 VENV=.venv-3.12
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest

# Tests and benchmarks on real data need a folder with the data sets; without it they are skipped.
ifneq ($(wildcard ../shared/data),)
export SPANSVM_DATA ?= $(abspath ../shared/data)
endif

# Matrices are small: BLAS threads only get in each other's way.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help demo test peers oldest coverage lint docs figures screens theory mutations bench quality reproduce clean

help:
	@echo "make demo       install, show every estimate for a weighted SVM, tune one, write a report"
	@echo "make test       install the test dependencies and run the tests"
	@echo "make peers      run scikit-learn's own tests of SVC and its searches against our classes"
	@echo "make oldest     run the tests with the oldest versions that pyproject.toml allows"
	@echo "make coverage   run the tests and list the lines they do not reach, compiled ones included"
	@echo "make portable   run the tests with the kernels of other processors (an hour)"
	@echo "make numerical  the same for the numerical tests and the oldest processor (minutes)"
	@echo "make checked    the tests of the core with every index of a memory view checked (minutes)"
	@echo "make sanitized  the same under AddressSanitizer and UBSan: reads and writes outside arrays"
	@echo "make lint       run ruff, mypy, and zizmor on the workflows"
	@echo "make docs       build the documentation, site/index.html; warnings are errors"
	@echo "make figures    draw the pictures of the documentation, write measured numbers into its pages"
	@echo "make screens    pictures of the command line and of a report, in a browser (chromium)"
	@echo "make wheel      build the distributions, check them, try the wheel where there is no compiler"
	@echo "make theory     check the theorems on thousands of random problems (a few minutes)"
	@echo "make mutations  put errors into the core and list those the tests miss (an hour)"
	@echo "make bench      speed relative to GridSearchCV, LibSVM, liquidSVM, TorchKM (two hours)"
	@echo "make quality    selected models, reported errors, probabilities; real data (four hours)"
	@echo "make reproduce  run the paper's experiments, next to its numbers (an hour and a half)"
	@echo "make clean      delete .venv, .venv-oldest and everything that was built"

# What is installed is built from this folder, in a folder of its environment, and builds itself
# again on import when a source has changed: the tools are installed as well, and found whatever the
# path is.  Those that pyproject.toml names, and ninja, which meson looks for by a variable; processes
# that import it at the same time take turns.
TOOLS := $(shell sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | tr -d ,) ninja
NINJA_IS := import os, sys; os.environ.setdefault("NINJA", sys.prefix + "/bin/ninja-in-turn")
pip_install = $(1)/bin/python -m pip install --quiet
build_in = PATH="$(abspath $(1))/bin:$$PATH" $(pip_install) --no-build-isolation \
	--config-settings=build-dir=$(2) $(compiler)
define install_tools
	rm -rf $(1)/build*
	$(pip_install) $(2) $(TOOLS)
	@cp tests/ninja_in_turn.py $(1)/bin
	@printf '%s\n' '#!/bin/sh' 'bin="$(abspath $(1))/bin"; exec "$$bin/python" -IS "$$bin/ninja_in_turn.py" "$$@"' \
		>$(1)/bin/ninja-in-turn && chmod +x $(1)/bin/ninja-in-turn
	@echo '$(NINJA_IS)' >"$$($(1)/bin/python -c 'import sysconfig as s; print(s.get_path("purelib"))')/ninja.pth"
	@$(native_file)
endef

# A C compiler from PyPI, where there is none.
ifeq ($(origin CC)$(shell command -v cc gcc clang),default)
TOOLS += ziglang
zig = ['$(abspath $(1))/bin/python', '-m', 'ziglang',
compiler = --config-settings=setup-args=--native-file=$(abspath $(1))/zig.ini
native_file = printf '%s\n' "[binaries]" "c = $(zig) 'cc', '-mcpu=baseline']" "ar = $(zig) 'ar']" \
	>$(1)/zig.ini
endif

# LIBSVM's own package has to be compiled, as C++; without it the tests that need it are skipped.
EXTRAS := dev$(if $(shell command -v c++ g++ clang++),$(shell echo ,)libsvm)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(call pip_install,$(VENV)) --upgrade pip

$(VENV)/.tools: pyproject.toml | $(VENV)/bin/python
	$(call install_tools,$(VENV))
	@touch $@

$(VENV)/.installed-cli: pyproject.toml $(VENV)/.tools
	$(call build_in,$(VENV),$(VENV)/build) --editable ".[cli]"
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.tools
	$(call build_in,$(VENV),$(VENV)/build) --editable ".[$(EXTRAS)]"
	@touch $@ $(VENV)/.installed-cli

$(OLDEST)/.installed: pyproject.toml tests/oldest.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || \
		{ echo "The oldest versions need Python 3.10 or 3.11: make oldest PYTHON=python3.10"; exit 1; }
	rm -rf $(OLDEST)
	$(PYTHON) -m venv $(OLDEST)
	$(call pip_install,$(OLDEST)) --upgrade pip
	$(call install_tools,$(OLDEST),--constraint tests/oldest.txt)
	$(call build_in,$(OLDEST),$(OLDEST)/build) --constraint tests/oldest.txt --editable ".[test]"
	@touch $@

demo: $(VENV)/.installed-cli
	$(BIN)/python examples/demo.py --force

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2

peers: $(VENV)/.installed-dev
	$(BIN)/python -m tests.peers -n 2
	SPANSVM_PEERS=default $(BIN)/python -m tests.peers -n 2 -k test_search

oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -n 2

.PHONY: portable numerical
portable: $(VENV)/.installed-dev
	$(BIN)/python tests/portable.py

numerical: $(VENV)/.installed-dev
	$(BIN)/python tests/portable.py nehalem -- -m "not (plumbing or long or theory)"

# Without a check, an index beyond an array reads or writes whatever is there.
CORE := multiclass/verified multiclass/together multiclass/path multiclass/left_out algebra/qp \
	algebra/hull core/inverse core/linalg core/removal machine/dual machine/span machine/loo \
	machine/groups machine/degenerate machine/scales machine/tube regression/paths \
	regression/left_out_targets regression/intervals
CORE_TESTS := $(foreach test,$(CORE),tests/$(dir $(test))test_$(notdir $(test)).py)

# The package built in another way, beside the one that is installed, and Python with it.
built = $(call build_in,$(VENV),$(VENV)/build-$(1)) --config-settings=setup-args=-D$(1)=true \
	--no-deps --upgrade --target $(VENV)/$(1) . && \
	$(call with,$(1)) -c 'from importlib.util import find_spec as f; s = f("spansvm"); \
	assert "$(VENV)/$(1)/" in s.origin, s'
with = MESONPY_EDITABLE_SKIP=$(abspath $(VENV)/build) PYTHONPATH=$(abspath $(VENV)/$(1)) $(2) \
	$(BIN)/python

.PHONY: checked sanitized
checked: $(VENV)/.installed-dev
	$(call built,checked)
	$(call with,checked) -m pytest -n 2 -m "not (long or theory)" $(CORE_TESTS)

# Errors end the process that makes them.  A failed allocation is to be a MemoryError; Python keeps
# memory to its end, so leaks are not looked for.  pytest must leave the standard error alone.
REPORT := $(abspath $(VENV))/sanitizer
sanitized_by = PYTHONMALLOC=malloc \
	LD_PRELOAD="$(foreach name,libasan libstdc++,$(shell $(CC) -print-file-name=$(name).so))" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$(REPORT)
sanitized: $(VENV)/.installed-dev
	rm -f $(REPORT).*
	$(call built,sanitized)
	$(call with,sanitized,$(sanitized_by)) -m pytest -n 2 -m "not (long or theory)" --capture=sys \
		$(CORE_TESTS) || \
		{ grep -hE "ERROR|located|allocated|spansvm" $(REPORT).*; exit 1; }

coverage: $(VENV)/.installed-dev
	$(call built,traced)
	find $(VENV)/build-traced -name "*.gcda" -delete
	$(call with,traced) -m pytest -n 2 --cov --cov-report=term-missing:skip-covered $(TESTS)
	$(BIN)/python tests/traced.py $(VENV)/build-traced

# Distributions of what is committed, checked, and the wheel tried where there is no compiler: the only
# programs on its path are those of its environment.
WHEEL := .wheel
.PHONY: wheel
wheel:
	rm -rf dist $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)/tools
	$(call pip_install,$(WHEEL)/tools) --upgrade pip
	$(call pip_install,$(WHEEL)/tools) --group release
	$(WHEEL)/tools/bin/python -m build
	$(WHEEL)/tools/bin/python -m twine check --strict dist/*
	$(WHEEL)/tools/bin/check-wheel-contents dist/*.whl
	@[ "$$(uname)" != Linux ] || $(WHEEL)/tools/bin/auditwheel show dist/*.whl
	$(PYTHON) -m venv $(WHEEL)/clean
	PATH="$(abspath $(WHEEL))/clean/bin" python -m pip install --quiet --only-binary :all: dist/*.whl
	PATH="$(abspath $(WHEEL))/clean/bin" python -I tests/smoke.py

theory: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 -m theory

mutations: $(VENV)/.installed-dev
	$(BIN)/python tests/mutations.py --jobs 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --quiet --offline --strict-collection --pedantic .github

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

figures: $(VENV)/.installed-dev
	$(BIN)/python -m docs.figures

screens: $(VENV)/.installed-dev
	$(BIN)/python -m docs.figures.screens

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.users
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.tutorials
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.large
	$(BIN)/python -m benchmarks.torchkm 1000

reproduce: $(VENV)/.installed-dev
	$(BIN)/python -m reproduction all --jobs 2 --out docs

quality: $(VENV)/.installed-dev
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
	rm -rf $(VENV) $(OLDEST) $(WHEEL) build dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .portable
