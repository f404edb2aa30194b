# The table of engines for the other scripts, which read this file with `.` from the root of the repository.
# `engines.toml` keeps each engine in a paragraph of its own and each value on a line of its own.

engines_table=crates/engines/engines.toml

# The packages that Cargo builds, once each.
engine_packages() { sed -n 's/^package = "\(.*\)"$/\1/p' "$engines_table" | awk '!seen[$0]++'; }

# The scripts that build the engines in other languages.
engine_scripts() { sed -n 's/^script = "\(.*\)"$/\1/p' "$engines_table"; }

# The engines of whose paragraph $1 is a part.
engines_with() {
  awk -v RS= -v part="$1" '
    index($0, part) && match($0, /\nname = "[^"]*"/) { print substr($0, RSTART + 9, RLENGTH - 10) }' "$engines_table"
}

# The engines that the package $1 makes, and the one that the script $1 builds.
engines_of_package() { engines_with "package = \"$1\""; }
engines_of_script() { engines_with "script = \"$1\""; }

# What the engines need of the system, or the engine $1 alone: a line "COMMAND-OR-FILE PACKAGE" each, where the file may
# be a pattern.
engine_needs() {
  awk -v RS= -v engine="${1:-}" 'engine == "" || index($0, "\nname = \"" engine "\"\n")' "$engines_table" |
    sed -n 's/^needs = \[\(.*\)\]$/\1/p' | tr ',' '\n' | sed 's/^ *"\(.*\): \(.*\)"$/\1 \2/' | awk '!seen[$0]++'
}

# Whether the system has a command, a C header, a shared library, or a file that a pattern names.
system_has() {
  case $1 in
    *.h) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | cc -E -x c - >/dev/null 2>&1 ;;
    lib*.so*) { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -qF "$1" ;;
    /*) for file in $1; do [ -e "$file" ] && return; done; return 1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# Reads such lines; the packages of what the system has not, a space before each.
packages_missing() { while read -r name package; do system_has "$name" || printf ' %s' "$package"; done; }

# The engines whose workers are not in the folder $1, a line each: "ENGINE PACKAGE..." with the packages that the system
# lacks for it.
absent_workers() {
  for engine in $(engines_with 'home = "package"') $(engines_with 'home = "script"'); do
    [ -x "$1/rsalab-peer-$engine" ] || echo "$engine$(engine_needs "$engine" | packages_missing)"
  done
}
