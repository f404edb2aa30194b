#!/bin/sh
# Builds rsalab-peer-jca into the folder given: a jar with Gson's classes in it, and the script that starts it.
# Needs a JDK of 17 or later, and Gson as the system has it.
set -eu

into=${1:-target/release}
here=$(dirname "$0")
gson=""
for jar in "${GSON_JAR:-}" /usr/share/java/gson.jar /usr/share/java/google-gson/gson.jar; do
  [ -n "$gson" ] || [ ! -f "$jar" ] || gson=$jar
done
if [ -z "$gson" ]; then
  echo "build: needs Gson: apt-get install -y --no-install-recommends libgoogle-gson-java; or name its jar in GSON_JAR" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$into" "$work/classes"
(cd "$work/classes" && jar xf "$gson" com)
javac --release 17 -Xlint:all -d "$work/classes" -classpath "$gson" "$here"/*.java
printf 'Main-Class: Worker\n' >"$work/manifest"
jar cfm "$work/rsalab-peer-jca.jar" "$work/manifest" -C "$work/classes" .
cat >"$work/rsalab-peer-jca" <<'START'
#!/bin/sh
# Starts the engine 'jca', whose jar lies beside this script.
here=$(dirname "$(readlink -f "$0")")
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseParallelGC -jar "$here/rsalab-peer-jca.jar" "$@"
START
chmod +x "$work/rsalab-peer-jca"
mv "$work/rsalab-peer-jca.jar" "$work/rsalab-peer-jca" "$into/"
