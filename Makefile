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
ENGINE_SOURCES := $(shell find policy/src policy/include policy/templates policy/check/src policy/check/c scheme/src sim/src answer/src compare/src netlink/src link/src python/src -type f 2>/dev/null) \
	$(wildcard */build.rs Cargo.toml Cargo.lock */Cargo.toml python/pyproject.toml .git/logs/HEAD)
PYTHON_FILES := python bench tests papers validation tools examples live/tests

# DEV=1 builds the engine without link-time optimisation, for those who change it: seconds instead of minutes.
ENGINE_PROFILE := $(if $(DEV),--profile quick,--release)

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
# Python keeps what it compiles, whatever the caller's environment says: the tests start it hundreds of times.
unexport PYTHONDONTWRITEBYTECODE
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))

.PHONY: help setup demo test lint fmt docs site web deps lock clean live live-test deb-test bpf-compile bpf-parity page-test \
	dist wheel wheel-test wasm-check msrv golden oracle papers notebooks validation bench instructions fuzz fuzz-brief mutants

## Use it

help: ## list these targets
	@awk -F ':.*## ' '/^## / { print "\n" substr($$0, 4) } /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

setup: $(ENGINE) ## set up .venv and build the engine into it (demo and test do this by themselves); DEV=1 builds quickly
	@echo "setup: ready; '. $(BIN)/activate' lets your shell find mousehole"

demo: $(ENGINE) ## compare the schemes on a published model, or on yours: make demo TRAFFIC=my.pcap
	@echo "demo: mousehole compare $(TRAFFIC) $(DEMO)"
	@$(BIN)/mousehole compare $(TRAFFIC) $(DEMO)

wheel: $(VENV)/.requirements ## build an abi3 wheel for this platform into dist/, with the static mousehole-live if `make live TARGETS=` built it; PGO=1 optimises it by a profile (needs rustup's llvm-tools)
	@echo "wheel: building into dist/"
	@rm -rf dist/*.whl $(WHEEL_SCRIPTS)
	@if [ -x $(live_here) ]; then install -D -m 755 $(live_here) $(WHEEL_SCRIPTS)/mousehole-live; \
		else echo "wheel: without mousehole-live, which \`make live TARGETS=$(MACHINE)\` builds"; fi
	@$(if $(PGO),$(with_profile)) $(BIN)/maturin build --quiet $(ENGINE_PROFILE) --locked --manifest-path python/Cargo.toml --interpreter $(BIN)/python --out dist
	@rm -rf $(WHEEL_SCRIPTS)
	@ls -1 dist/*.whl

# A profile fits only what is built for the same target, which must be named.
with_profile = MATURIN_PGO=1 CARGO_BUILD_TARGET=$$(rustc -vV | sed -n 's/^host: //p') CARGO_TARGET_DIR=$(TARGET_FOLDER)/pgo

# Where what was built for a machine is; without one, for this.
TARGET_FOLDER := $(or $(CARGO_TARGET_DIR),target)
MACHINE := $(shell uname -m)
live_program = $(TARGET_FOLDER)/$(if $1,$1-unknown-linux-musl$(if $(filter armv7,$1),eabihf)/static,release)/mousehole-live
live_here = $(call live_program,$(MACHINE))
# What a wheel installs beside `mousehole`.
WHEEL_SCRIPTS := python/mousehole.data/scripts

live: ## build mousehole-live, the kernel's side (needs what `make deps` installs); TARGETS="x86_64 aarch64 armv7 mipsel" static; PACKAGES=1 also packs into dist/
	@echo "live: building mousehole-live (a few minutes the first time)"
	@CARGO=$(CARGO) tools/live-build $(TARGETS)
	@$(if $(PACKAGES),tools/live-packages dist $(or $(foreach one,$(TARGETS),$(call live_program,$(one))),$(call live_program)))

# What a release has beside wheels and packages.
DIST := $(or $(WHAT),source site parts checksums)

dist: $(VENV)/.requirements $(if $(filter site,$(DIST)),site web) ## the rest of a release into dist/: WHAT="source site parts checksums" (site with the page; parts: what others wrote, CycloneDX)
	@tools/dist dist $(BIN)/python $(DIST)

deb-test: ## as root: installs the static .deb of `make live TARGETS=x86_64 PACKAGES=1` in a clean Debian, uses it, reboots, upgrades, removes
	@tools/deb-test dist/mousehole-live_*_$$(dpkg --print-architecture).deb

## Change it

# The engine's last link keeps one processor busy; the others compile the tests meanwhile.
test: $(VENV)/.requirements ## run every test that needs only Rust, Python and gcc; ends with "N passed, N failed"
	@trap wait EXIT; nice $(CARGO) test --quiet --locked --no-run > /dev/null 2>&1 & $(MAKE) $(ENGINE)
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
	@$(BIN)/mypy --no-error-summary python/mousehole bench tests papers validation tools live/tests
	@PYTHONPATH=python $(BIN)/lint-imports --cache-dir build/import-linter > build/imports.log || { cat build/imports.log; exit 1; }
	@$(BIN)/typos
	@echo "lint: clean"

fmt: $(VENV)/.requirements ## format the Rust and Python sources in place
	@$(CARGO) fmt --all
	@$(BIN)/ruff check --quiet --fix-only $(PYTHON_FILES)
	@$(BIN)/ruff format --quiet $(PYTHON_FILES)

docs: $(ENGINE) ## renew what is generated: Python's types of the engine, docs/schemes/, quantities, the JSON Schema and what it says, layers, manual pages; README=1 its first example too, PAPERS=1 the papers' pictures
	@$(BIN)/python -m tools.engine_structs
	@$(BIN)/python -m tools.engine_stub
	@$(BIN)/python -m tools.schemes_doc
	@$(BIN)/python -m tools.quantities_doc
	@$(BIN)/python -m papers.page_figures
	@MOUSEHOLE_RENEW=1 $(CARGO) test --quiet --locked $(if $(DEV),--profile quick) -p mousehole-answer --lib schema > /dev/null
	@$(BIN)/python -m tools.schema_doc
	@$(BIN)/python -m tools.man_pages
	@$(BIN)/python -m tools.format_pages
	@if [ -n "$(README)" ]; then $(BIN)/python -m tools.readme_home; fi
	@if [ -n "$(PAPERS)" ]; then cd docs/images; mousehole=$(abspath $(BIN)/mousehole); \
		for one in "sfd figure 7" "rio-ps figure 3" "tcp-ds figure 11" "shred figure 11" "lfp figure 7"; do \
			$$mousehole paper $$one > /dev/null || exit 1; done; fi

site: $(VENV)/.requirements ## build the documentation's site into build/site; any broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/site.new
	@[ ! -d build/site/try ] || mv build/site/try build/site.new/try
	@rm -rf build/site && mv build/site.new build/site
	@echo "site: build/site/index.html"

web: ## build the page that simulates in a browser into build/site/try (needs what `make deps` installs)
	@CARGO=$(CARGO) tools/web

lock: ## renew python/requirements.lock from requirements.in; UPGRADE=1 takes the newest versions
	@tools/lock-requirements $(if $(UPGRADE),--upgrade)

clean: ## remove what builds and tests leave, but not .venv; ALL=1 that as well
	@rm -rf target build dist bench.json bench-schemes.json $(ENGINE) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
	@$(if $(ALL),rm -rf $(VENV) web/node_modules)

## Check more of it

deps: ## as root: install by apt what some checks need beyond the basics (clang, ns2 …); KERNELS=1 also QEMU
	@tools/install-deps $(if $(KERNELS),kernels)

golden: ## only the checks against the ns-2 tables in oracle/golden
	@$(CARGO) test --quiet --locked golden

msrv: $(VENV)/.requirements ## check the workspace with the oldest compiler it promises (rust-version in Cargo.toml)
	@tools/check-msrv

bpf-compile: ## compile every policy header with gcc and with clang for the eBPF target
	@policy/check-bpf.sh

bpf-parity: ## as root: the policies in the kernel against the native build, record by record
	@CARGO=$(CARGO) policy/check/bpf-parity.sh

live-test: $(ENGINE) ## as root: every test of mousehole-live, in namespaces of their own
	@$(CARGO) build --quiet --locked -p mousehole-live
	@$(BIN)/python -m tools.run_tests live

page-test: $(ENGINE) web ## headless Chromium: a page through the emulated link, and that of `make web` (needs what `make deps` installs)
	@$(BIN)/python -m pytest -q --no-header tests/page_in_browser.py tests/web_in_browser.py

wheel-test: wheel ## install the wheel into an empty environment and try every kind of command there
	@$(BIN)/python -m tools.wheel_test dist/*.whl

wasm-check: ## one comparison in WebAssembly: Node must give the native build's document, byte for byte
	@CARGO=$(CARGO) tools/wasm-check

fuzz: ## fuzz every parser and every scheme's settings for MINUTES in all (default 10)
	@tools/fuzz $$(( $(MINUTES) * 60 / $(words $(wildcard sim/fuzz/targets/*.rs)) ))

fuzz-brief: ## the same for two seconds each
	@tools/fuzz 2

mutants: $(ENGINE) ## change the sources in small ways and list what no test notices: LANGUAGE=rust|python
	@tools/mutate $(or $(LANGUAGE),rust) $(ARGS)

## Measure it

oracle: $(ENGINE) ## random TCP cases in ns-2 and here, event by event, and several flows: CASES=234 SEED=1; needs ns, or TRACES=DIR of recorded ones
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-trace
	@$(BIN)/python -m validation.oracle --program "$${CARGO_TARGET_DIR:-target}/release/mousehole-trace" \
		--cases $(or $(CASES),234) --seed $(or $(SEED),1) $(if $(VARIANT),--variant $(VARIANT)) $(if $(TRACES),--traces $(TRACES))
	@$(if $(TRACES),,$(BIN)/python -m validation.oracle_flows --seed $(or $(SEED),1))

papers: $(ENGINE) ## the five papers, claim by claim, published beside ours (about 15 minutes on two cores); FULL=1, HTML=DIR
	@$(BIN)/mousehole paper --all $(if $(FULL),--full) $(if $(HTML),--html $(HTML))

notebooks: $(ENGINE) ## run the papers' notebooks into build/notebooks: NAMES="sfd lfp"
	@$(BIN)/python -m tools.notebooks $(NAMES)

# WHAT is a module of validation/ (default: page), or of bench/ (default: engine, then schemes); ARGS are its options.
validation: $(ENGINE) $(if $(filter live kernels,$(WHAT)),live) ## compare with something outside: WHAT=page|coverage|… ARGS='…'; docs/validation.md
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bins
	@$(BIN)/python -m validation.$(or $(WHAT),page) $(ARGS)

bench: $(ENGINE) ## time things: WHAT=engine|schemes|performance|scaling|verdicts|logs|wheels, or as root live; ARGS='…'
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bins
	@for what in $(or $(WHAT),engine schemes); do \
		if [ $$what = live ]; then $(CARGO) run --quiet --locked -p mousehole-live --example bench_live -- $(ARGS); \
		else $(BIN)/python -m bench.$$what $(ARGS); fi; done

instructions: $(VENV)/.requirements ## count the instructions of fixed cases (valgrind); fails when they rise; BLESS=1 keeps the new counts
	@$(CARGO) build --quiet --release --locked -p mousehole-sim --bin mousehole-bench
	@$(BIN)/python -m bench.instructions $(if $(BLESS),--bless)

$(VENV)/.requirements: python/requirements.lock tools/make-venv
	@tools/make-venv $(VENV)
	@touch $@

$(ENGINE): $(VENV)/.requirements $(ENGINE_SOURCES)
	@echo "setup: building the engine (a few minutes the first time; DEV=1 builds it quickly and less optimised)"
	@mkdir -p build
	@$(BIN)/maturin develop $(ENGINE_PROFILE) --locked --manifest-path python/Cargo.toml > build/engine.log 2>&1 \
		|| { cat build/engine.log; exit 1; }
	@touch $@
