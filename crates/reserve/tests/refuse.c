/* An allocator for tests that refuses the n-th allocation, or all from the n-th on. Compiled into the test's
 * program, and so everybody's in its process. */
#include <errno.h>
#include <stddef.h>
#include "refuse.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static volatile int is_armed;
static long count, from;
static int all_after;

void refuse_from(long n, int all) {
  count = 0;
  from = n;
  all_after = all;
  is_armed = 1;
}

long refuse_stop(void) {
  is_armed = 0;
  return count;
}

static int is_refused(void) {
  long n;
  if (!is_armed) return 0;
  n = __sync_fetch_and_add(&count, 1);
  if (all_after ? n < from : n != from) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return is_refused() ? NULL : __libc_malloc(size); }

void *calloc(size_t number, size_t size) { return is_refused() ? NULL : __libc_calloc(number, size); }

void *realloc(void *old, size_t size) { return is_refused() ? NULL : __libc_realloc(old, size); }

void *memalign(size_t alignment, size_t size) { return is_refused() ? NULL : __libc_memalign(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *place = made;
  return 0;
}
