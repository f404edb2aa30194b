#!/bin/sh
# How good a machine's profile is: profile.sh RSALAB OUT [OPTION...]
#
# Two studies of every fixed setting of text encryption at the sizes of the preset text-threads, scripts/profile.toml,
# one after the other. The first makes the profile, the second says how its settings compare with the fastest fixed one
# there. Exit code 4: one of them is more than 5 % slower. Options are those of 'rsalab profile', such as
# --with-disturbed on a machine that is not at rest. Takes about ten minutes; OUT must not exist.
set -eu
rsalab=$1
out=$2
shift 2
plan=$(dirname "$0")/profile.toml
mkdir "$out"
for study in one another; do
  "$rsalab" study "$plan" -q --out "$out/$study" > "$out/$study.log"
done
"$rsalab" profile "$@" "$out/one" --out "$out/profile.json"
"$rsalab" profile "$@" "$out/one" --against "$out/another"
