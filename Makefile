# Every job of this repository; `make help` lists them and .ci/run calls nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
CARGO ?= cargo
ENGINE := python/mousehole/_engine.abi3.so
ENGINE_SOURCES := $(shell find policy/src policy/include policy/templates live/check/src live/check/c sim/src python/src -type f 2>/dev/null) \
	$(wildcard */build.rs Cargo.toml Cargo.lock */Cargo.toml python/pyproject.toml .git/logs/HEAD)
PYTHON_FILES := python tests scripts papers examples

# What `make demo` compares: a published model, or the user's own files (TRAFFIC="a.pcap b.pcap").
TRAFFIC ?= web:sfd
DEMO ?= --rate 5mbit --rtt 80ms --buffer 50p --load 0.9 --duration 300s --warmup 30s --seeds 10

# How long `make fuzz` takes, beside building.
MINUTES ?= 10

# Tests on real traffic look here; without the folder they are reported as NOT RUN.
ifneq ($(wildcard ../shared/data/README.md),)
MOUSEHOLE_DATA ?= $(abspath ../shared/data)
endif
export MOUSEHOLE_DATA
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))

.PHONY: help setup demo test lint fmt docs deps bpf-compile bpf-parity golden oracle bench \
	instructions bless-instructions performance validation negatives fuzz fuzz-brief papers witness wheel lock clean distclean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(ENGINE) ## set up .venv and build the engine into it (demo and test do this by themselves)

demo: $(ENGINE) ## compare the schemes on a published model, or on yours: make demo TRAFFIC=my.pcap
	@echo "demo: mousehole compare $(TRAFFIC) $(DEMO)"
	@$(BIN)/mousehole compare $(TRAFFIC) $(DEMO)

test: $(ENGINE) ## run every test that needs only Rust, Python and gcc; ends with "N passed, N failed"
	@$(BIN)/python scripts/run_tests.py

lint: $(VENV)/.requirements ## formatting, clippy, ruff, mypy --strict; changes nothing
	@echo "lint: rustfmt and clippy"
	@$(CARGO) fmt --all --check
	@$(CARGO) clippy --quiet --workspace --all-targets --locked -- -D warnings
	@echo "lint: ruff and mypy"
	@$(BIN)/ruff check --quiet $(PYTHON_FILES)
	@$(BIN)/ruff format --quiet --check $(PYTHON_FILES)
	@$(BIN)/mypy --no-error-summary python/mousehole tests scripts papers/common.py papers/sfd papers/rio-ps papers/shred papers/lfp
	@$(BIN)/mypy --no-error-summary papers/tcp-ds # by itself: folders with a hyphen share one name space
	@echo "lint: clean"

fmt: $(VENV)/.requirements ## format the Rust and Python sources in place
	@$(CARGO) fmt --all
	@$(BIN)/ruff check --quiet --fix-only $(PYTHON_FILES)
	@$(BIN)/ruff format --quiet $(PYTHON_FILES)

docs: $(ENGINE) ## renew docs/schemes.md from the engine's own catalogue
	@$(BIN)/python scripts/schemes_doc.py

deps: ## as root: install by apt what lint, bpf-* and bench need beyond the basics (clang, ns2 …)
	@scripts/install-deps

bpf-compile: ## compile every policy header with gcc and with clang for the eBPF target
	@policy/check-bpf.sh

bpf-parity: ## as root: the policies in the kernel against the native build, record by record
	@CARGO=$(CARGO) live/check/bpf-parity.sh

golden: ## only the checks against the ns-2 tables in oracle/golden
	@$(CARGO) test --quiet --locked golden

oracle: $(VENV)/.requirements ## random TCP cases in ns-2 and here, event by event: CASES=234 SEED=1; needs ns, or TRACES=DIR of recorded ones
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-trace
	@$(BIN)/python scripts/oracle.py --program "$${CARGO_TARGET_DIR:-target}/release/mousehole-trace" \
		--cases $(or $(CASES),234) --seed $(or $(SEED),1) $(if $(VARIANT),--variant $(VARIANT)) $(if $(TRACES),--traces $(TRACES))

bench: $(ENGINE) ## time the simulator, ns-2 beside it where ns is installed, and every scheme; writes bench.json
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python scripts/bench.py
	@$(BIN)/python scripts/bench_schemes.py

instructions: $(VENV)/.requirements ## count the instructions of fixed cases (valgrind); fails when they rise
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python scripts/instructions.py

bless-instructions: $(VENV)/.requirements ## renew sim/instructions.txt after a change that is meant
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python scripts/instructions.py --bless

performance: $(VENV)/.requirements ## renew docs/performance.md: costs by flows, rate and cores (several minutes)
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python scripts/performance.py

validation: $(ENGINE) ## renew docs/validation.md from every comparison with something outside (several minutes)
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bins
	@$(BIN)/python scripts/validation.py

negatives: $(ENGINE) ## renew docs/when-it-does-not-help.md from its commands (a few minutes)
	@$(BIN)/python scripts/negatives.py

fuzz: ## fuzz every parser and every scheme's settings for MINUTES in all (default 10)
	@scripts/fuzz $$(( $(MINUTES) * 60 / $(words $(wildcard sim/fuzz/targets/*.rs)) ))

fuzz-brief: ## the same for two seconds each
	@scripts/fuzz 2

papers: $(ENGINE) ## the papers' tables, published beside ours
	@$(BIN)/mousehole paper sfd --table 4

witness: $(ENGINE) ## as root: real Linux's TCP over TBF beside the simulator (about 150 s)
	@$(BIN)/python scripts/witness.py

wheel: $(VENV)/.requirements ## build an abi3 wheel for this platform into dist/
	@echo "wheel: building into dist/"
	@$(BIN)/maturin build --quiet --release --strip --locked --manifest-path python/Cargo.toml --out dist
	@ls -1 dist/*.whl

lock: ## renew python/requirements.lock from requirements.in (needs the package index)
	@scripts/lock-requirements

clean: ## remove what builds and tests leave, but not .venv
	@rm -rf target build dist bench.json bench-schemes.json $(ENGINE) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv as well
	@rm -rf $(VENV)

$(VENV)/.requirements: python/requirements.lock scripts/make-venv
	@scripts/make-venv $(VENV)
	@touch $@

$(ENGINE): $(VENV)/.requirements $(ENGINE_SOURCES)
	@echo "setup: building the engine in release mode (about a minute the first time)"
	@mkdir -p build
	@$(BIN)/maturin develop --release --locked --manifest-path python/Cargo.toml > build/engine.log 2>&1 \
		|| { cat build/engine.log; exit 1; }
	@touch $@
