#!/bin/sh
# Builds the article's application into the folder given: multithread_rsa.jar, which needs nothing but Java, and
# rsa_speed_test.jar, which needs the first beside it. Needs a JDK of 17 or later.
set -eu

into=${1:-target/release}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$into" "$work/rsa" "$work/test"
javac --release 17 -Xlint:all -d "$work/rsa" "$here"/multithread_rsa/*.java
date=$(sh "$here/../java-worker/jar-date.sh")
# shellcheck disable=SC2086 # an option, or none
jar --create --file "$work/multithread_rsa.jar" $date -C "$work/rsa" .
javac --release 17 -Xlint:all -d "$work/test" -classpath "$work/multithread_rsa.jar" "$here"/rsa_speed_test/*.java
printf 'Main-Class: rsa_speed_test.RSA_speed_test\nClass-Path: multithread_rsa.jar\n' >"$work/manifest"
# shellcheck disable=SC2086
jar --create --file "$work/rsa_speed_test.jar" --manifest "$work/manifest" $date -C "$work/test" .
mv "$work/multithread_rsa.jar" "$work/rsa_speed_test.jar" "$into/"
