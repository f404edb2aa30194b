#!/bin/sh
# Prints the option of `jar` that dates the entries of an archive as SOURCE_DATE_EPOCH says, so that the same classes
# give the same bytes; nothing where that is not set, or where the JDK is too old to know the option.
set -eu

[ -n "${SOURCE_DATE_EPOCH:-}" ] || exit 0
jar --help | grep -q -- --date || exit 0
echo "--date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
