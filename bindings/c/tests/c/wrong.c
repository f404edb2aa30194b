/* What the sanitizer must find: uses a key after it is freed, or does not free one. */
#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 2);
  rsalab_private_key *volatile key = new_key(512);
  size_t bits = rsalab_private_key_bits(key);
  if (strcmp(argv[1], "use") == 0) {
    /* The library itself is not compiled with the sanitizer: what it frees is seen, and so is this access. */
    const volatile char *inside = (const volatile char *)key;
    rsalab_private_key_free(key);
    return inside[0];
  }
  key = NULL;
  return bits == 512 ? 0 : 1;
}
