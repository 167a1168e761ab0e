# Every target sets itself up: it makes .venv, installs graphc with the extras it needs, and runs.
# A file $(VENV)/.has-EXTRA says that an extra is installed; it is out of date when pyproject.toml is newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Each worker has a part of its own, so what tests next to each other share is made once; who is done takes of the rest.
WORKERS := auto --maxprocesses 4 --dist worksteal

# The build of JAX for demo, bench and test-gpu. The driver and the GPU decide (CUDA 13 needs driver 580 and compute
# capability 7.5, CUDA 12 needs driver 525), unless GRAPHC_JAX does.
ifndef GRAPHC_JAX
GRAPHC_JAX := $(shell nvidia-smi --query-gpu=driver_version,compute_cap --format=csv,noheader 2>/dev/null \
  | LC_ALL=C awk -F ', *' \
    'NR == 1 && $$1 + 0 >= 525 { cuda = ($$1 + 0 >= 580 && $$2 + 0 >= 7.5) ? "cuda13" : "cuda12" } \
     END { print cuda ? cuda : "cpu" }')
endif
ifeq ($(filter cpu cuda12 cuda13,$(GRAPHC_JAX)),)
$(error GRAPHC_JAX is "$(GRAPHC_JAX)": write cpu, cuda12 or cuda13)
endif
JAX_BUILD := $(patsubst %,$(VENV)/.has-%,$(filter-out cpu,$(GRAPHC_JAX)))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-slow test-gpu check format bench docs stubs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12       the Python to make .venv with (3.11 or later)"
	@echo "  GRAPHC_JAX=$(GRAPHC_JAX)          the build of JAX: cpu, cuda12 or cuda13; make clean before a change"
	@echo "  TESTS=tests/compiler/ir          the files or folders to test"
	@echo "  GRAPHC_TESTS_SEED=7     which rows are tested, which programs XLA compiles (a number as make test prints it, or all)"
	@echo "  ARGS='-k loop'          further arguments of pytest, of the demo or of the benchmarks"

demo: $(VENV)/.has-demo $(JAX_BUILD) ## see graphc at work, in a minute: writes demo/index.html
	$(BIN)/graphc demo $(ARGS)

test: $(VENV)/.has-test ## run the tests and the examples in docstrings
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS) $(TESTS)

test-slow: $(VENV)/.has-test ## run the tests that make test leaves out, and the programs with XLA as users have it
	GRAPHC_TESTS_SEED=all $(BIN)/python -m pytest -m slow $(ARGS) $(TESTS)
	GRAPHC_TESTS_SEED=all $(BIN)/python -m pytest -n $(WORKERS) -m '(drawn or hypothesis) and not slow' $(ARGS) $(TESTS)
	GRAPHC_TESTS_SEED=all $(BIN)/python -m pytest -n $(WORKERS) $(ARGS) \
	  $(or $(TESTS),tests/compiler/autograph tests/compat tests/compiler/function $(addprefix tests/compiler/ops/test_,gradients.py errors.py primitives.py))
	GRAPHC_TESTS_SEED=all XLA_FLAGS= JAX_DISABLE_MOST_OPTIMIZATIONS=0 JAX_TRACEBACK_FILTERING=auto \
	  $(BIN)/python -m pytest -n $(WORKERS) $(ARGS) \
	  $(or $(TESTS),tests/conformance tests/compiler/ops/test_rows.py tests/compiler/gradients tests/test_examples.py)

test-gpu: $(VENV)/.has-test $(JAX_BUILD) ## run the tests that need a GPU
	JAX_PLATFORMS= $(BIN)/python -m pytest -m gpu $(ARGS) $(TESTS)

check: $(VENV)/.has-check stubs docs ## check format, lint, types and documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.has-check ## format the code and repair what lint can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(addprefix $(VENV)/.has-,demo data cluster serve) $(JAX_BUILD) ## measure the ratios of benchmarks/README.md
	$(BIN)/python -m benchmarks $(ARGS)

stubs: $(VENV)/.created ## write the stub files of graphc/compiler/ops, which editors and type checkers read
	$(BIN)/python -m graphc.compiler.ops.stubs

docs: $(VENV)/.has-docs stubs ## build the documentation into site/, and check its search and that it loads nothing from elsewhere
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m tests.site site

clean: ## remove .venv and everything else that was made here
	rm -rf $(VENV) build demo dist site .hypothesis .pytest_cache .ruff_cache
	find graphc/compiler/ops -name '*.pyi' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "graphc needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	    echo "Try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.has-%: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --editable '.[$*]'
	@touch $@
