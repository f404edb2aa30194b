#!/bin/sh
# Builds rsalab-peer-c-openmp into the folder given: one C file, and the system's GMP and jansson.
set -eu

into=${1:-target/release}
mkdir -p "$into"
${CC:-gcc} -std=gnu11 -O3 -Wall -Wextra -fopenmp "$(dirname "$0")/rsa.c" -o "$into/rsalab-peer-c-openmp" -ljansson -lgmp -lm
