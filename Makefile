# Everything a newcomer needs: `make help`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Most of a test's time is one thread of Spark planning, some of it is waiting: three workers keep two cores busy.
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest
SHARED := --numprocesses $(WORKERS) --dist worksteal

# Modules are compiled once, and not by each of the hundred processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test lint unit mutants conformance faults bench reproduce docs figure lock clean

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

demo: $(READY) ## a live run: real SPARQL server, real stream, real Spark, one minute
	@$(BIN)/bestbefore demo

test: lint ## set up, lint, type-check and run every test
	$(PYTEST) $(SHARED) tests

lint: $(READY) ## format check, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(READY) ## the tests that need no JVM
	$(PYTEST) tests/unit tests/contract tests/property tests/golden tests/experiments

mutants: $(READY) ## make 200 small mistakes in the source, one after the other: does a test notice each?
	$(BIN)/python scripts/mutants.py

conformance: $(READY) ## the W3C's SPARQL 1.1 tests, with a score per folder
	$(PYTEST) $(SHARED) tests/conformance

faults: $(READY) ## kills, hostile endpoints, damaged files, jumping clocks, a soak: one hour, one table
	$(BIN)/python -m tests.faults

bench: $(READY) ## elections, large views, patterns, sources, the engine against plain Spark and a TTL cache, summaries
	$(BIN)/python -m benchmarks

reproduce: $(READY) ## the papers' experiments anew, and what comes of telling a policy nothing, into docs/
	$(BIN)/python -m benchmarks.reproduce

docs: $(READY) ## write the parts of the documentation that are generated
	$(BIN)/python scripts/write_docs.py

figure: $(READY) ## the figure of the README, from a longer demo
	$(BIN)/bestbefore demo --seconds 24
	cp out/demo/freshness.png docs/demo.png

lock: $(READY) ## pin the dependencies anew
	$(BIN)/pip-compile --quiet --all-extras --strip-extras --no-header --no-emit-index-url \
	    --no-emit-trusted-host --no-emit-find-links --no-annotate --output-file requirements.lock pyproject.toml

clean: ## remove what the commands made
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(READY): requirements.lock pyproject.toml scripts/check_python.py scripts/ensure_java.sh
	@$(PYTHON) scripts/check_python.py
	@sh scripts/ensure_java.sh
	@test -x $(BIN)/python || { echo "Creating $(VENV) …" >&2; $(PYTHON) -m venv $(VENV); }
	@echo "Installing the pinned dependencies into $(VENV) (a few minutes the first time) …" >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@echo "Archiving Spark's classes, so that every session starts in little more than half the time …" >&2
	@$(BIN)/python -m bestbefore.spark.class_archive || true
	@touch $(READY)
