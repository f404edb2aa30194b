# The table of engines for the other scripts, which read this file with `.` from the root of the repository.
# `engines.toml` keeps each engine in a paragraph of its own and each value on a line of its own.

engines_table=crates/engines/engines.toml

# The packages that Cargo builds, once each.
engine_packages() { sed -n 's/^package = "\(.*\)"$/\1/p' "$engines_table" | awk '!seen[$0]++'; }

# The scripts that build the engines in other languages.
engine_scripts() { sed -n 's/^script = "\(.*\)"$/\1/p' "$engines_table"; }

# The engines that the package $1 makes.
engines_of_package() {
  awk -v RS= -v package="package = \"$1\"" '
    index($0, package) && match($0, /\nname = "[^"]*"/) { print substr($0, RSTART + 9, RLENGTH - 10) }' "$engines_table"
}

# What the engines need of the system: a line "COMMAND-OR-FILE PACKAGE" each, where the file may be a pattern.
engine_needs() {
  sed -n 's/^needs = \[\(.*\)\]$/\1/p' "$engines_table" | tr ',' '\n' | sed 's/^ *"\(.*\): \(.*\)"$/\1 \2/' | awk '!seen[$0]++'
}
