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
ENGINE_SOURCES := $(shell find policy/src policy/include policy/templates live/check/src live/check/c sim/src link/src python/src -type f 2>/dev/null) \
	$(wildcard */build.rs Cargo.toml Cargo.lock */Cargo.toml python/pyproject.toml .git/logs/HEAD)
PYTHON_FILES := python tests papers validation tools examples live/tests

# DEV=1 builds the engine without link-time optimisation, for those who change it: seconds instead of minutes.
ENGINE_PROFILE := $(if $(DEV),--profile quick,--release)

# What `make demo` compares: a published model, or the user's own files (TRAFFIC="a.pcap b.pcap").
TRAFFIC ?= web:sfd
DEMO ?= --rate 5mbit --rtt 80ms --buffer 50p --load 0.9 --duration 300s --warmup 30s --seeds 10

# How many changes `make mutants` tries in each language.
SAMPLE ?= 200

# How long `make fuzz` takes, beside building.
MINUTES ?= 10

# Tests on real traffic look here; without the folder they are reported as NOT RUN.
ifneq ($(wildcard ../shared/data/README.md),)
MOUSEHOLE_DATA ?= $(abspath ../shared/data)
endif
export MOUSEHOLE_DATA
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))

.PHONY: help setup demo test lint fmt docs deps deps-kernels msrv arrows live live-test bench-live bpf-compile bpf-parity golden oracle bench \
	instructions bless-instructions performance validation coverage replay-truth reference negatives fuzz fuzz-brief mutants \
	sweep-test scaling papers papers-full findings best-installable witness witness-transfers live-prediction link-figures live-kernels page-test page-figure \
	wheel wheel-test site lock clean distclean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(ENGINE) ## set up .venv and build the engine into it (demo and test do this by themselves); DEV=1 builds quickly
	@echo "setup: ready; '. $(BIN)/activate' lets your shell find mousehole"

demo: $(ENGINE) ## compare the schemes on a published model, or on yours: make demo TRAFFIC=my.pcap
	@echo "demo: mousehole compare $(TRAFFIC) $(DEMO)"
	@$(BIN)/mousehole compare $(TRAFFIC) $(DEMO)

test: $(ENGINE) ## run every test that needs only Rust, Python and gcc; ends with "N passed, N failed"
	@$(BIN)/python -m tools.run_tests

lint: $(VENV)/.requirements ## formatting, clippy, rustdoc, ruff, mypy --strict, layers, spelling; changes nothing
	@mkdir -p build
	@echo "lint: rustfmt, clippy, rustdoc"
	@$(CARGO) fmt --all --check
	@$(CARGO) clippy --quiet --workspace --all-targets --locked -- -D warnings
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --workspace --no-deps --locked
	@echo "lint: ruff, mypy, import-linter, typos"
	@$(BIN)/ruff check --quiet $(PYTHON_FILES)
	@$(BIN)/ruff format --quiet --check $(PYTHON_FILES)
	@$(BIN)/mypy --no-error-summary python/mousehole tests papers validation tools live/tests
	@PYTHONPATH=python $(BIN)/lint-imports --cache-dir build/import-linter > build/imports.log || { cat build/imports.log; exit 1; }
	@$(BIN)/typos
	@echo "lint: clean"

fmt: $(VENV)/.requirements ## format the Rust and Python sources in place
	@$(CARGO) fmt --all
	@$(BIN)/ruff check --quiet --fix-only $(PYTHON_FILES)
	@$(BIN)/ruff format --quiet $(PYTHON_FILES)

arrows: $(VENV)/.requirements ## print which module of sim/src may see which
	@$(BIN)/python -m tools.arrows

docs: $(ENGINE) ## renew docs/schemes/ from the engine's catalogue, and the layers in sim/README.md
	@$(BIN)/python -m tools.schemes_doc

site: $(VENV)/.requirements ## build the documentation's site into build/site; any broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "site: build/site/index.html"

deps: ## as root: install by apt what lint, bpf-* and bench need beyond the basics (clang, ns2 …)
	@tools/install-deps

deps-kernels: ## as root: the same and QEMU, for live-kernels
	@tools/install-deps kernels

live: ## build mousehole-live, the kernel's side, into target/release (needs what `make deps` installs)
	@echo "live: building mousehole-live (a few minutes the first time)"
	@$(CARGO) build --quiet --release --locked -p mousehole-live
	@echo "live: target/release/mousehole-live"

live-test: $(ENGINE) ## as root: every test of mousehole-live, in namespaces of their own
	@$(CARGO) build --quiet --locked -p mousehole-live
	@$(BIN)/python -m tools.run_tests live

bpf-compile: ## compile every policy header with gcc and with clang for the eBPF target
	@policy/check-bpf.sh

bpf-parity: ## as root: the policies in the kernel against the native build, record by record
	@CARGO=$(CARGO) live/check/bpf-parity.sh

bench-live: ## as root: ns per packet of the programs in the kernel, and CPU time beside nft's rule for the same
	@$(CARGO) run --quiet --locked -p mousehole-live --example bench_live

msrv: $(VENV)/.requirements ## check the workspace with the oldest compiler it promises (rust-version in Cargo.toml)
	@tools/check-msrv

golden: ## only the checks against the ns-2 tables in oracle/golden
	@$(CARGO) test --quiet --locked golden

oracle: $(ENGINE) ## random TCP cases in ns-2 and here, event by event, and several flows: CASES=234 SEED=1; needs ns, or TRACES=DIR of recorded ones
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-trace
	@$(BIN)/python -m validation.oracle --program "$${CARGO_TARGET_DIR:-target}/release/mousehole-trace" \
		--cases $(or $(CASES),234) --seed $(or $(SEED),1) $(if $(VARIANT),--variant $(VARIANT)) $(if $(TRACES),--traces $(TRACES))
	@$(if $(TRACES),,$(BIN)/python -m validation.oracle_flows --seed $(or $(SEED),1))

bench: $(ENGINE) ## time the simulator, ns-2 beside it where ns is installed, and every scheme; writes bench.json
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python -m tools.bench
	@$(BIN)/python -m tools.bench_schemes

instructions: $(VENV)/.requirements ## count the instructions of fixed cases (valgrind); fails when they rise
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python -m tools.instructions

bless-instructions: $(VENV)/.requirements ## renew sim/instructions.txt after a change that is meant
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python -m tools.instructions --bless

performance: $(VENV)/.requirements ## renew docs/performance.md: costs by flows, rate and cores (several minutes)
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python -m tools.performance

validation: $(ENGINE) ## renew docs/validation.md from every comparison with something outside (several minutes)
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bins
	@$(BIN)/python -m validation.page

coverage: $(ENGINE) ## how often compare's interval holds the truth, from captures of models (40 minutes); CAPTURES=25
	@$(BIN)/python -m validation.coverage $(if $(CAPTURES),--captures $(CAPTURES))

replay-truth: $(ENGINE) ## replay recordings of models in both loops and compare with the models (about ten minutes)
	@$(BIN)/python -m validation.replay_truth --seeds $(or $(SEEDS),10)

reference: $(ENGINE) ## captures here and in tshark, count by count: make reference DIR=FOLDER
	@$(BIN)/python -m validation.reference "$(or $(DIR),$(MOUSEHOLE_DATA))"

negatives: $(ENGINE) ## renew docs/when-it-does-not-help.md from its commands (a few minutes)
	@$(BIN)/python -m validation.negatives

fuzz: ## fuzz every parser and every scheme's settings for MINUTES in all (default 10)
	@tools/fuzz $$(( $(MINUTES) * 60 / $(words $(wildcard sim/fuzz/targets/*.rs)) ))

fuzz-brief: ## the same for two seconds each
	@tools/fuzz 2

mutants: $(ENGINE) ## change the sources in small ways and list what no test notices: SAMPLE=200 for each language
	@status=0; for language in python c rust; do \
		$(BIN)/python -m tools.mutants $$language --sample $(SAMPLE) || status=$$?; done; exit $$status

sweep-test: $(ENGINE) ## a sweep of 2,000 cells killed ten times equals one that was not, file by file (5 min); CELLS=2000 KILLS=10
	@$(BIN)/python -m tools.sweep_test --cells $(or $(CELLS),2000) --kills $(or $(KILLS),10)

scaling: $(ENGINE) ## a sweep on 1, 2, … Dask workers and threads here; renews docs/cluster.md (10 min on an idle machine)
	@$(BIN)/python -m tools.scaling

papers: $(ENGINE) ## the five papers, claim by claim, published beside ours (about 15 minutes on two cores); FULL=1, HTML=DIR
	@$(BIN)/mousehole paper --all $(if $(FULL),--full) $(if $(HTML),--html $(HTML))

papers-full: $(ENGINE) ## the papers' claims at full length beside the quick runs; renews docs/full-length.md (an hour)
	@$(BIN)/python -m validation.full_length

findings: $(ENGINE) ## all schemes side by side under the same traffic; renews docs/findings.md; FULL=1
	@$(BIN)/python -m validation.findings $(if $(FULL),--full)

best-installable: $(ENGINE) ## the best marker and queue that Linux and routers have, on every traffic (about 20 minutes); renews docs/findings.md; FULL=1
	@$(BIN)/python -m validation.best_installable $(if $(FULL),--full)

witness: $(ENGINE) ## as root: real Linux's TCP beside the simulator, in bulk over TBF and transfer by transfer (12 min)
	@$(BIN)/python -m validation.witness
	@$(BIN)/python -m validation.transfers

witness-transfers: $(ENGINE) ## as root: only the second part, completion times of 1 kB to 10 MB (about 9 min)
	@$(BIN)/python -m validation.transfers

page-test: $(ENGINE) ## a page in headless Chromium through the emulated link (needs what `make deps` installs)
	@$(BIN)/python -m pytest -q --no-header tests/page_in_browser.py

page-figure: $(ENGINE) ## a page of 40 objects in Chromium beside the simulator; renews docs/page.md (40 minutes); LOADS=20
	@$(BIN)/python -m validation.browser --loads $(or $(LOADS),20)

live-prediction: $(ENGINE) live ## as root: short flows through mousehole-live up beside the simulator; renews docs/live-validation.md (10 min)
	@$(BIN)/python -m validation.live --lists $(or $(LISTS),5)

link-figures: $(ENGINE) ## mousehole link beside the simulator, what it carries and how late; renews docs/link.md (25 min); KERNEL=1 as root
	@$(BIN)/python -m validation.link_figures --lists $(or $(LISTS),5) $(if $(KERNEL),--kernel)

live-kernels: $(ENGINE) live ## Debian's 6.1 and 6.12 in QEMU: mousehole-live, real CAKE and FQ-CoDel beside the simulator's (45 min)
	@$(BIN)/python -m validation.kernels --write --lists $(or $(LISTS),5)

wheel: $(VENV)/.requirements ## build an abi3 wheel for this platform into dist/
	@echo "wheel: building into dist/"
	@rm -rf dist
	@$(BIN)/maturin build --quiet --release --locked --manifest-path python/Cargo.toml --out dist
	@ls -1 dist/*.whl

wheel-test: $(ENGINE) wheel ## install the wheel into an empty environment and try every kind of command there
	@$(BIN)/python -m tools.wheel_test dist/*.whl

lock: ## renew python/requirements.lock from requirements.in; UPGRADE=1 takes the newest versions
	@tools/lock-requirements $(if $(UPGRADE),--upgrade)

clean: ## remove what builds and tests leave, but not .venv
	@rm -rf target build dist bench.json bench-schemes.json $(ENGINE) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv as well
	@rm -rf $(VENV)

$(VENV)/.requirements: python/requirements.lock tools/make-venv
	@tools/make-venv $(VENV)
	@touch $@

$(ENGINE): $(VENV)/.requirements $(ENGINE_SOURCES)
	@echo "setup: building the engine (a few minutes the first time; DEV=1 builds it quickly and less optimised)"
	@mkdir -p build
	@$(BIN)/maturin develop $(ENGINE_PROFILE) --locked --manifest-path python/Cargo.toml > build/engine.log 2>&1 \
		|| { cat build/engine.log; exit 1; }
	@touch $@
