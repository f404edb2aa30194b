#!/bin/sh
# Installs the system packages that a build needs, where it may; else prints the one line to run.
# Nothing here is needed where the commands, headers and libraries exist already, whatever the distribution.
set -eu
. scripts/engines.sh

command -v cargo >/dev/null 2>&1 || {
  echo "setup: no Rust toolchain (cargo) on the path; install one with rustup or from the distribution's packages" >&2
  exit 1
}

missing=$({ echo cc gcc; echo pkg-config pkg-config; engine_needs; } | packages_missing)
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
  echo "setup: missing:$missing; please install them with this system's package manager" >&2
elif [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && $line && exit 0
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  sudo apt-get update -qq && sudo $line && exit 0
else
  echo "setup: missing:$missing; run: sudo $line" >&2
fi
# The program itself needs a C compiler; the rest is for peers only, which are then listed as absent.
command -v cc >/dev/null 2>&1
