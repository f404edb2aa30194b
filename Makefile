# Two commands do everything on a fresh Debian or Ubuntu machine with git, make and a Rust toolchain:
#   make study   install what is missing, build, run the quick study, print where the report lies
#   make test    everything that must hold before a change lands
# While you work: make check. Before a release: make test-all. `make help` lists the rest.

CARGO   ?= cargo
PROFILE := release
RSALAB  := target/$(PROFILE)/rsalab
TOOLS   := $(CURDIR)/target/tools
# Where libraries and toolchains that the peers need are installed.
export RSALAB_PREFIX ?= $(CURDIR)/prefix
# Cargo builds where the scripts look, whatever an environment or a configuration of the user's says.
export CARGO_TARGET_DIR := $(CURDIR)/target

.DEFAULT_GOAL := help
.PHONY: help setup build peers study wheel papers check test test-all timing book deny clean

help: ## List the commands.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 18

setup: ## Install missing system packages, or print the line that does.
	@sh scripts/setup.sh

build: setup ## Build the program.
	$(CARGO) build --release --locked

# A peer that cannot be built is listed as absent in the study; it never stops it.
peers: setup ## Build the program and every peer that this machine can build.
	@sh scripts/peers.sh

study: peers ## Run the quick study and write a report.
	$(RSALAB) study quick

wheel: setup ## Build a wheel with the program and its peers, for pip and uvx: target/wheel.
	@sh scripts/wheel.sh

papers: peers ## Repeat the studies of four articles in short form: one report, within half an hour on 2 cores.
	$(RSALAB) study papers

check: ## For every save: format, lints, unit tests; no peers.
	@sh scripts/test.sh check

test: setup ## Before a change lands: lints, documentation, every test but the long ones.
	@sh scripts/test.sh test

test-all: setup peers ## Before a release: make test, licences, the long tests, and every peer that can be built.
	@sh scripts/test.sh all

timing: ## Does time depend on a secret? Statistics of kernels and whole decryptions, valgrind, and traces; takes two hours and a half.
	@sh scripts/timing.sh

book: ## Build the documentation site, with mdBook; compiles it once where it is missing.
	@sh scripts/book.sh --install

deny: ## Licences, banned crates, sources; advisories where the network allows.
	@sh scripts/deny.sh "$(TOOLS)"

clean: ## Remove what was built; results and installed peers stay.
	$(CARGO) clean
