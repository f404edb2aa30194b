#!/bin/sh
# Builds the worker of an engine in Java into a folder: a jar with the classes of the engine, of the conversation and of
# Gson in it, and the script that starts it.
#   build.sh FOLDER ENGINE MAIN-CLASS JAR SOURCE...
# JAR is a jar in that folder on which the engine depends, or empty. Needs a JDK of 17 or later, and Gson as the system
# has it.
set -eu

here=$(dirname "$0")
into=$1 engine=$2 main=$3 jar=$4
shift 4

gson=""
for candidate in "${GSON_JAR:-}" /usr/share/java/gson.jar /usr/share/java/google-gson/gson.jar; do
  [ -n "$gson" ] || [ ! -f "$candidate" ] || gson=$candidate
done
if [ -z "$gson" ]; then
  echo "build: needs Gson: apt-get install -y --no-install-recommends libgoogle-gson-java; or name its jar in GSON_JAR" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$into" "$work/classes"
(cd "$work/classes" && jar xf "$gson" com)
javac --release 17 -Xlint:all -d "$work/classes" -classpath "$gson${jar:+:$into/$jar}" "$here"/*.java "$@"
{
  echo "Main-Class: $main"
  [ -z "$jar" ] || echo "Class-Path: $jar"
} >"$work/manifest"
# shellcheck disable=SC2046 # an option, or none
jar --create --file "$work/rsalab-peer-$engine.jar" --manifest "$work/manifest" $(sh "$here/jar-date.sh") -C "$work/classes" .
cat >"$work/rsalab-peer-$engine" <<START
#!/bin/sh
# Starts the engine '$engine', whose jar lies beside this script.
here=\$(dirname "\$(readlink -f "\$0")")
java=\${JAVA_HOME:+\$JAVA_HOME/bin/}java
if ! command -v "\$java" >/dev/null 2>&1; then
  # The answer of a worker whose engine is missing, to the first request.
  read -r request
  echo '{"answer":"error","kind":"unsupported","message":"there is no Java on this machine; get it with: apt-get install default-jre-headless"}'
  exit 6
fi
exec "\$java" -XX:+UseParallelGC -jar "\$here/rsalab-peer-$engine.jar" "\$@"
START
chmod +x "$work/rsalab-peer-$engine"
mv "$work/rsalab-peer-$engine.jar" "$work/rsalab-peer-$engine" "$into/"
