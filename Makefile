# Two commands do everything on a fresh Debian or Ubuntu machine with a Rust toolchain:
#   make study   install what is missing, build, run the quick study, print where the report lies
#   make test    everything that must hold before a change lands
# `make help` lists the rest.

CARGO   ?= cargo
PROFILE := release
RSALAB  := target/$(PROFILE)/rsalab
PEERS   := openssl gmp libcrypto ipp aws-lc cryptopp rustcrypto
# Engines in other languages, each with a script that builds it.
EXTERNAL := go java jca c-openmp
TOOLS   := $(CURDIR)/target/tools
# The peers are built from C: one slow build each, kept in target/.
export RSALAB_PREFIX ?= $(CURDIR)/prefix

.DEFAULT_GOAL := help
.PHONY: help setup build peers study papers test timing lint deny docs clean

help: ## List the commands.
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /  make \1\t/' | expand -t 16

setup: ## Install missing system packages, or print the line that does.
	@sh scripts/setup.sh

build: setup ## Build the program.
	$(CARGO) build --release --locked

# A peer that cannot be built is absent from the study, and said to be; it never stops it.
peers: build ## Build the native peers that this machine can build, and bring the libraries that they load.
	@sh scripts/bring-ipp.sh || echo "make: Intel's libraries could not be brought; ippcp and crypto_mb will be listed as absent" >&2
	@for peer in $(PEERS); do \
	  $(CARGO) build --release --locked --package rsalab-peer-$$peer \
	  || echo "make: the peer $$peer could not be built and will be listed as absent" >&2; \
	done
	@for peer in $(EXTERNAL); do \
	  sh peers/external/$$peer/build.sh target/$(PROFILE) \
	  || echo "make: the peer $$peer could not be built and will be listed as absent" >&2; \
	done

study: build peers ## Run the quick study and leave a report.
	$(RSALAB) study quick

papers: build peers ## Do the studies of four articles again, in short form: one report, within half an hour on 2 cores.
	$(RSALAB) study papers

test: setup lint deny peers ## Lints, all tests with every peer that could be built, licences, documents.
	@sh scripts/test.sh $(PEERS)

timing: ## Does time depend on a secret? Statistics of our kernels, and valgrind; takes ten minutes.
	@sh scripts/timing.sh

lint: setup ## Format, clippy, documentation, tidiness; warnings are errors.
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps
	$(CARGO) xtask tidy

deny: ## Licences, banned crates, sources; advisories where the network allows.
	@sh scripts/deny.sh $(TOOLS)

clean: ## Remove what was built; results and installed peers stay.
	$(CARGO) clean
