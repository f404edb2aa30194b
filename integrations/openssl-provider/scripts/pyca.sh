#!/bin/sh
# The RSA tests of pyca/cryptography with the provider, for the version that this machine's Python has. It must use the
# system's libcrypto, as Debian's does.
#   pyca.sh
# Without the test that wants a wrong PKCS#1 v1.5 padding to be an error: with the provider it yields a pseudorandom
# message, as with OpenSSL 3.2 and later, where newer versions of cryptography leave it out, too. As many tests must
# pass with the provider as without it, and none may fail with it only. tests/witness.c, loaded into the second run,
# must have seen RSA signatures by the provider alone. The tests and their vectors are downloaded from Python's package
# index.
set -eu

. "$(dirname "$0")/fixture.sh"
python=/usr/bin/python3
need openssl "$python"
version=$("$python" -c 'import cryptography; print(cryptography.__version__)' 2>/dev/null) || skip "there is no cryptography for $python here"
"$python" -m venv --system-site-packages "$folder/venv" 2>/dev/null || skip "$python has no venv here"
# The package itself is not installed from there: its own libcrypto would be another one.
pip="$folder/venv/bin/pip --quiet --disable-pip-version-check"
# shellcheck disable=SC2086 # Words on purpose.
{
  $pip install pytest pytest-subtests pretend iso8601 pytz
  $pip install --no-deps "cryptography_vectors==$version"
  $pip download --no-deps --no-binary cryptography --dest "$folder" "cryptography==$version"
} > "$folder/log" 2>&1 || { tail -5 "$folder/log" >&2; skip "the tests of cryptography $version cannot be downloaded here"; }
tar -xzf "$folder/cryptography-$version.tar.gz" -C "$folder"
cd "$folder/cryptography-$version"
# Else the sources would be imported, and not what is installed.
rm -rf src

# run NAME: runs the tests, prints pytest's last line, and leaves their number in NAME.passed and the names of those
# that fail in NAME.failed.
run() {
  "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -c /dev/null --rootdir . \
    tests/hazmat/primitives/test_rsa.py tests/hazmat/primitives/test_serialization.py tests/hazmat/primitives/test_pkcs7.py \
    tests/hazmat/primitives/test_pkcs12.py tests/x509 \
    --deselect tests/hazmat/primitives/test_rsa.py::TestRSADecryption::test_decrypt_invalid_decrypt > "$folder/log" 2>&1 || true
  echo "$1 the provider: $(tail -1 "$folder/log")"
  sed -n '$s/.*[^0-9]*\b\([0-9]\{1,\}\) passed.*/\1/p' "$folder/log" > "$folder/$1.passed"
  [ -s "$folder/$1.passed" ] || { tail -20 "$folder/log" >&2; fail "the tests did not run to their end"; }
  grep -E '^(FAILED|ERROR)' "$folder/log" | sed 's/ - .*//' | sort > "$folder/$1.failed" || true
}

echo "cryptography $version, $(OPENSSL_CONF=/dev/null openssl version)"
OPENSSL_CONF=/dev/null run without
witness
OPENSSL_CONF=$ours LD_PRELOAD=$witness RSALAB_WITNESS=$folder/seen run with
comm -13 "$folder/without.failed" "$folder/with.failed" > "$folder/new"
[ ! -s "$folder/new" ] || { cat "$folder/new" >&2; fail "$(wc -l < "$folder/new") tests fail with the provider only"; }
[ "$(cat "$folder/with.passed")" -ge "$(cat "$folder/without.passed")" ] || fail "fewer tests pass with the provider"
witnessed 100
