#!/bin/sh
# Builds rsalab-peer-java into the folder given, with the article's two jars beside it. Needs a JDK of 17 or later, and
# Gson as the system has it.
set -eu

into=${1:-target/release}
here=$(dirname "$0")
sh "$here/jars.sh" "$into"
sh "$here/../java-worker/build.sh" "$into" java rsalab.article.Article multithread_rsa.jar "$here"/worker/*.java
