#!/bin/sh
# Installs the system packages that a build needs, where it may; else prints the one line to run.
# Nothing here is needed where the commands, headers and libraries exist already, whatever the distribution.
set -eu
. scripts/engines.sh

command -v cargo >/dev/null 2>&1 || {
  echo "setup: no Rust toolchain (cargo) on the path; install one with rustup or from the distribution's packages" >&2
  exit 1
}

# Whether the system has a command, a C header, a shared library, or a file that a pattern names.
has() {
  case $1 in
    *.h) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | cc -E -x c - >/dev/null 2>&1 ;;
    lib*.so*) { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -qF "$1" ;;
    /*) for file in $1; do [ -e "$file" ] && return; done; return 1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

missing=$({ echo cc gcc; echo pkg-config pkg-config; engine_needs; } | while read -r name package; do has "$name" || printf ' %s' "$package"; done)
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
