#!/bin/sh
# Builds rsalab-peer-jca into the folder given. Needs a JDK of 17 or later, and Gson as the system has it.
set -eu

here=$(dirname "$0")
sh "$here/../java-worker/build.sh" "${1:-target/release}" jca rsalab.jca.Jca "" "$here"/*.java
