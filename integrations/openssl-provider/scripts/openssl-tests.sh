#!/bin/sh
# OpenSSL's own tests with the provider preferred, and without it:
#   openssl-tests.sh SOURCE BUILD [RECIPE]...
# SOURCE is OpenSSL's source, with its tests; BUILD, which may be the same folder, is where it was built with shared
# libraries and with its tests (`Configure shared`, `make`). RECIPE is a name as in `make test TESTS=...`; those that
# use RSA are run if there is none. A line a recipe: how many checks pass and fail without the provider and with it.
# Below it, whatever fails with the provider only: then the script fails, unless tests/openssl-tests.txt has it, with
# the reason. With KEEP=FOLDER, that folder gets the recipes' output.
set -eu

. "$(dirname "$0")/fixture.sh"
[ $# -ge 2 ] || fail "usage: $me SOURCE BUILD [RECIPE]..."
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
shift 2
need perl
if [ -n "${KEEP:-}" ]; then
  mkdir -p "$KEEP"
  KEEP=$(cd "$KEEP" && pwd)
fi
[ -x "$build/apps/openssl" ] && [ -x "$build/test/evp_extra_test" ] || fail "$build has no openssl and no tests: build them first"
[ $# -gt 0 ] || set -- test_rsa test_mp_rsa test_rsapss test_rsaoaep test_genrsa test_pkeyutl test_pkey_check test_evp test_evp_extra test_evp_libctx \
  test_evp_pkey_provided test_encoder_decoder test_encoder_decoder_legacy test_req test_x509 test_verify test_ca test_cms test_cmsapi test_pkcs7 test_pkcs12 \
  test_tsa test_ocsp test_ssl_old test_ssl_new test_sslapi test_tls13messages test_asyncio test_async test_x509_check_cert_pkey

# copy NAME LINES: a copy of the source, made of links, whose configurations load more providers: the tests take them
# from the source.
copy() {
  cp -as "$source" "$folder/$1"
  for name in apps/openssl.cnf test/default.cnf test/default-and-legacy.cnf; do
    rm "$folder/$1/$name"
    awk -v module="$module" -v ours="$2" '
      { print }
      /^\[ *openssl_init *\]/ { if (ours) print "alg_section = rsalab_algorithms"; places++ }
      /^\[ *provider_sect *\]/ { if (ours) print "rsalab = rsalab_sect"; places++ }
      /^\[ *default_sect *\]/ { print "activate = 1"; places++ }
      END {
        if (ours) print "\n[rsalab_sect]\nmodule = " module "\nactivate = 1\n[rsalab_algorithms]\ndefault_properties = ?provider=rsalab"
        exit places != 3
      }' "$source/$name" > "$folder/$1/$name" || fail "$name of this version is not as expected"
  done
  cp "$folder/$1/apps/openssl.cnf" "$folder/$1/openssl.cnf"
}
copy without ''
copy with yes
export LD_LIBRARY_PATH="$build"
OPENSSL_CONF=$folder/with/apps/openssl.cnf "$build/apps/openssl" list -providers | grep -q rsalab || fail "this OpenSSL does not load the provider"
OPENSSL_CONF=/dev/null "$build/apps/openssl" version

# checks RECIPE NAME: with the copy of that name, leaves the names of the checks that pass and fail in NAME.passed and
# NAME.failed.
checks() {
  mkdir -p "$folder/results"
  # Some load the test's configuration into a context of their own, and want nothing in that of the process.
  case $1 in
    test_sslapi | test_pkcs12) application=$source/apps/openssl.cnf ;;
    *) application=$folder/$2/openssl.cnf ;;
  esac
  cp "$application" "$folder/$2/apps/openssl.cnf"
  (cd "$build" && SRCTOP=$folder/$2 BLDTOP=$build RESULT_D=$folder/results PERL=perl EXE_EXT='' HARNESS_VERBOSE=yes VERBOSE=1 \
    timeout 900 perl "$folder/$2/test/run_tests.pl" "$1") > "$folder/log" 2>&1 || true
  sed -n 's/^ *ok [0-9]* - //p' "$folder/log" | sort > "$2.passed"
  sed -n 's/^ *not ok [0-9]* - //p' "$folder/log" | sed "s|$folder/[a-z]*/||g; s|[./]*/$2/||g" | sort > "$2.failed"
  grep -q '^Result: ' "$folder/log" || echo "$1 did not run to its end" >> "$2.failed"
}

cd "$folder"
: > new
for recipe; do
  checks "$recipe" without
  checks "$recipe" with
  printf '%-30s without: %5d pass, %3d fail; with: %5d pass, %3d fail\n' "$recipe" "$(wc -l < without.passed)" "$(wc -l < without.failed)" \
    "$(wc -l < with.passed)" "$(wc -l < with.failed)"
  [ -s without.passed ] || fail "$recipe does not run here, even without the provider: $(tail -3 log)"
  comm -13 without.failed with.failed | sed "s/^/$recipe: /" > only
  # Whatever neither passes nor fails was not reached.
  [ "$(wc -l < with.passed)" -ge "$(wc -l < without.passed)" ] || [ -s only ] || echo "$recipe: fewer checks pass" >> only
  cat only >> new
  [ -z "${KEEP:-}" ] || cp log "$KEEP/$recipe.log"
done
known=$here/tests/openssl-tests.txt
unexplained=$(grep -v -x -F -f "$known" new || true)
explained=$(grep -c -x -F -f "$known" new || true)
echo "$explained checks fail with the provider only, for reasons in tests/openssl-tests.txt"
[ -z "$unexplained" ] || { echo "$unexplained" >&2; fail "checks fail with the provider only"; }
