/* The trials of refuse.h: each in a process and a thread of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "refuse.h"

/* More allocations than any operation asks for. */
#define NEVER 1000000000L
/* Of an operation that allocates more often, so many allocations are refused one by one, the first ones and others
 * evenly spread; all with REFUSE_ALL. */
#define MOST 24

struct run {
  const struct trial *trial;
  long n;
  int all;
  long count;
  enum outcome outcome;
};

void (*thread_begins)(void);

static void *in_thread(void *argument) {
  struct run *run = argument;
  int is_done;
  if (thread_begins != NULL) thread_begins();
  refuse_from(run->n, run->all);
  is_done = run->trial->operate();
  run->count = refuse_stop();
  run->outcome = run->trial->check(is_done);
  return NULL;
}

/* The outcome of one run, or 3 for a crash; and how many allocations there were. A process that did not write their
 * number has not come to its end. */
static int outcome_of(const struct trial *trial, long n, int all, long *count) {
  int status, is_counted, ends[2];
  pid_t child;
  if (pipe(ends) != 0 || (child = fork()) < 0) exit(5);
  if (child == 0) {
    struct run run;
    pthread_t thread;
    run.trial = trial;
    run.n = n;
    run.all = all;
    if (trial->prepare != NULL) trial->prepare();
    /* What an abort says is no news. */
    if (getenv("REFUSE_SAYS") == NULL) fclose(stderr);
    if (pthread_create(&thread, NULL, in_thread, &run) != 0 || pthread_join(thread, NULL) != 0) _exit(5);
    if (write(ends[1], &run.count, sizeof run.count) != sizeof run.count) _exit(5);
    _exit(run.outcome);
  }
  close(ends[1]);
  is_counted = read(ends[0], count, sizeof *count) == (ssize_t)sizeof *count;
  close(ends[0]);
  if (waitpid(child, &status, 0) != child) exit(5);
  return is_counted && WIFEXITED(status) && WEXITSTATUS(status) <= WRONG ? WEXITSTATUS(status) : 3;
}

int try_all(const struct trial *trials, int count) {
  const char *only = getenv("REFUSE_ONLY");
  int at, all, tried = 0, faults = 0;
  printf("%-36s %11s  %-27s  %-27s\n", "", "", "one refused", "all from it on refused");
  printf("%-36s %11s  %6s %6s %5s %7s  %6s %6s %5s %7s\n", "operation", "allocations", "done", "error", "wrong", "crashed",
         "done", "error", "wrong", "crashed");
  for (at = 0; at < count; at++) {
    long allocations, n, step, ignored;
    if (only != NULL && strcmp(only, trials[at].name) != 0) continue;
    tried++;
    if (outcome_of(&trials[at], NEVER, 0, &allocations) != DONE) {
      printf("%-36s fails with all the memory there is\n", trials[at].name);
      faults++;
      continue;
    }
    printf("%-36s %11ld", trials[at].name, allocations);
    /* Whatever does more than give memory back allocates some. Else this allocator was not asked: nothing was refused. */
    if (allocations == 0 && strstr(trials[at].name, "free") == NULL) {
      printf("  asks for no memory: nothing was refused\n");
      faults++;
      continue;
    }
    for (all = 0; all <= 1; all++) {
      long outcomes[4] = {0, 0, 0, 0};
      step = getenv("REFUSE_ALL") == NULL ? 1 + allocations / MOST : 1;
      for (n = 0; n < allocations; n += n < MOST / 4 ? 1 : step) outcomes[outcome_of(&trials[at], n, all, &ignored)]++;
      printf("  %6ld %6ld %5ld %7ld", outcomes[DONE], outcomes[REFUSED], outcomes[WRONG], outcomes[3]);
      faults += (int)(outcomes[WRONG] + outcomes[3]);
    }
    printf("\n");
    fflush(stdout);
  }
  if (tried == 0) {
    printf("no operation was tried: REFUSE_ONLY is the whole name of one\n");
    faults++;
  }
  return faults;
}
