# The index of what can be done here. The first two are all that a newcomer needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/target/tools/bin:$(PATH)
# The cases of property tests that a change must pass are the same for every change; `make properties` looks for others.
SEED ?= 1
# One feature set for lint, binary and tests, so that every crate is built once for each of check and build. Naming a
# test target makes cargo count the features of development dependencies, as it does when it builds the tests.
WHOLE := --workspace --all-features --locked
BUILD := cargo build $(WHOLE) --bin shopfloor --test document

.PHONY: help run test build package test-packages dev bench bench-queue bench-recipes bench-terminals bench-workers bench-merge chaos lint fmt protocol openapi page tools test-claude test-rust test-page test-api test-long properties fuzz

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 14

run: build ## build everything and start Shopfloor on this machine
	target/release/shopfloor up

test: ## install what is missing, then check and test everything
	scripts/stages tools page lint test-rust test-page test-api

test-long: page crates/terminal/tests/xterm/node_modules/.stamp ## what make test only samples: every hostile name and seed, slow agents
	$(BUILD)
	SHOPFLOOR_LONG=1 cargo nextest run $(WHOLE) -E 'test(injection::) or test(simulator::)'
	cargo nextest run $(WHOLE) --run-ignored only -E 'package(e2e) and test(outages::)'

build: page ## leave target/release/shopfloor, with the page in it
	cargo build --release --locked -p shopfloor

package: page ## build every package of this tree into target/package: binary, deb, npm, container image, SBOM
	scripts/package/all

test-packages: web/node_modules/.stamp ## install, boot and use each of those packages in a clean Debian root (needs root)
	scripts/package/test/all

dev: web/node_modules/.stamp ## hub and page with live reload
	scripts/dev

bench: page ## measure against baselines in the same run; results under bench/results
	cargo build --release --locked -p bench -p shopfloor
	target/release/bench
	$(MAKE) --no-print-directory bench-queue
	$(MAKE) --no-print-directory bench-recipes
	$(MAKE) --no-print-directory bench-terminals
	$(MAKE) --no-print-directory bench-workers
	$(MAKE) --no-print-directory bench-merge

bench-queue: page ## tasks from added to done, beside graphile-worker and pg-boss
	scripts/tools bench
	cargo build --release --locked -p bench -p shopfloor
	cd bench/queue && npm ci --silent
	target/release/bench queue

bench-recipes: page ## executions of three steps, beside DBOS and Restate
	cargo build --release --locked -p bench -p shopfloor
	cd bench/recipes && npm ci --silent
	cargo build --release --locked --manifest-path bench/recipes/dbos/Cargo.toml
	target/release/bench recipes

bench-terminals: ## terminals through runner and hub, beside sshx
	scripts/tools bench
	cargo build --release --locked -p bench -p shopfloor
	cd bench/terminals && npm ci --silent
	node bench/terminals/main.mjs

bench-workers: page ## three workers beside one, on thirty tasks that take real time
	cargo build --locked -p shopfloor
	SHOPFLOOR_SPEED_UP=2.5 SHOPFLOOR_SPEED_UP_TASKS=30 cargo nextest run --locked -p chaos --test work --no-capture three_workers

bench-merge: page ## merge queues with real git and short checks, beside the simulator
	cargo build --locked -p shopfloor
	cargo nextest run --locked -p chaos --test merges --no-capture --run-ignored only real_git

chaos: page ## the long lane: 200 kills on each database, 300 with a merge queue, 300 with recipes, 100 rounds of faults, 5 minutes with workers
	cargo build --locked -p shopfloor
	SHOPFLOOR_CHAOS_KILLS=200 SHOPFLOOR_CHAOS_MERGE_KILLS=300 SHOPFLOOR_CHAOS_ROUNDS=100 SHOPFLOOR_CHAOS_TASKS=200 \
		SHOPFLOOR_CHAOS_SECONDS=300 SHOPFLOOR_CHAOS_EXECUTIONS=10 SHOPFLOOR_CHAOS_EXECUTION_KILLS=300 \
		cargo nextest run --locked -p chaos --no-capture
	SHOPFLOOR_SIM_SEEDS=20000 cargo nextest run --release --locked -p engine recipes::tests::simulator

lint: tools web/node_modules/.stamp ## formatters, linters, licences, documentation
	cargo fmt --all --check
	cargo clippy $(WHOLE) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc $(WHOLE) --no-deps --document-private-items --lib --bin bench --examples
	cargo fetch --locked --quiet # also what other machines need: licences are looked at for all of them
	cargo deny --offline --log-level error check bans licenses sources
	cd web && npm run --silent check

fmt: web/node_modules/.stamp ## format everything
	cargo fmt --all
	cd web && npm run --silent format

test-claude: ## install Claude Code, and test with it
	scripts/tools claude
	cargo nextest run --locked -p agents --run-ignored only -E 'test(claude::)'

test-rust: page crates/terminal/tests/xterm/node_modules/.stamp ## unit, integration and end-to-end tests of the workspace
	PROPTEST_RNG_SEED=$(SEED) cargo nextest run $(WHOLE)

test-page: page ## unit tests of the page, then real browsers against the real binary
	cd web && npm run --silent test && npm run --silent size
	$(BUILD)
	cd web && npm run --silent e2e

test-api: page ## every documented operation, with good and bad input
	$(BUILD)
	scripts/schemathesis

protocol: ## regenerate the page's types from the protocol
	UPDATE_TYPES=1 cargo test --quiet $(WHOLE) --test typescript --test document fresh

openapi: ## regenerate docs/openapi.json from the handlers
	UPDATE_OPENAPI=1 cargo nextest run $(WHOLE) --test trust -E 'package(hub) and test(openapi)'

properties: ## the long lane of the property tests: many cases, other ones each time
	PROPTEST_CASES=2000 cargo nextest run --locked --workspace --lib --bins --retries 0 --no-fail-fast

fuzz: ## let libFuzzer look for frames that break the decoder, for five minutes
	command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --version 0.13.2 --locked --debug --quiet --root target/tools
	cd fuzz && RUSTC_BOOTSTRAP=1 cargo fuzz run decode -- -max_total_time=300

page: web/dist/index.html

crates/terminal/tests/xterm/node_modules/.stamp: crates/terminal/tests/xterm/package.json crates/terminal/tests/xterm/package-lock.json
	cd crates/terminal/tests/xterm && npm ci --no-audit --no-fund --silent
	touch $@

web/node_modules/.stamp: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --silent
	touch $@

web/dist/index.html: web/node_modules/.stamp web/index.html web/vite.config.ts web/compress.ts $(shell find web/src web/public -type f 2>/dev/null)
	cd web && npm run --silent build

tools:
	scripts/tools
