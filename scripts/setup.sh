#!/bin/sh
# Installs the system packages that a build needs, where it may; else prints the one line to run.
# Nothing here is needed where the commands exist already, whatever the distribution.
set -eu

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need cc gcc
need make make
need perl perl # OpenSSL's Configure
need m4 m4     # GMP's assembly

# The engine gpu on a machine without a graphics processor: OpenCL on its CPU.
[ -n "$(find /etc/OpenCL/vendors -name '*.icd' 2>/dev/null)" ] || missing="$missing pocl-opencl-icd"
[ -n "$(find /usr/lib /usr/lib64 -name 'libOpenCL.so.1' 2>/dev/null | head -n 1)" ] || missing="$missing ocl-icd-libopencl1"
# The peer cryptopp.
[ -e /usr/include/cryptopp/rsa.h ] || missing="$missing g++ libcrypto++-dev"
# The peers java, jca and c-openmp.
need javac default-jdk-headless
[ -e /usr/share/java/gson.jar ] || missing="$missing libgoogle-gson-java"
[ -e /usr/include/jansson.h ] || missing="$missing libjansson-dev"
has_gmp=$(find /usr/include -maxdepth 2 -name gmp.h 2>/dev/null | head -n 1)
[ -n "$has_gmp" ] || missing="$missing libgmp-dev"
# Intel's libraries come as Python packages, for x86-64 only.
[ "$(uname -m)" != x86_64 ] || python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"

command -v cargo >/dev/null 2>&1 || {
  echo "setup: no Rust toolchain (cargo) on the path; rustup or the distribution's packages bring one" >&2
  exit 1
}
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
# A C compiler is needed by the program itself; the rest only by peers, which are then absent.
command -v cc >/dev/null 2>&1
