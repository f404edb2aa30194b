/* Trials of an operation while allocations are refused. */
#ifndef REFUSE_H
#define REFUSE_H

/* From now on refuses the n-th allocation of the process, counted from 0; with `all`, those after it, too. */
void refuse_from(long n, int all);
/* Refuses none any more; gives how many were asked for. */
long refuse_stop(void);

/* What came of an operation: done and right; a clean error; a wrong answer, or an error without its reason. */
enum outcome { DONE, REFUSED, WRONG };

/* An operation under trial. `prepare` makes what it needs and `check` says afterwards, with all the memory there
 * is, what came of it. */
struct trial {
  const char *name;
  void (*prepare)(void);
  /* 1 if it says that it is done. */
  int (*operate)(void);
  enum outcome (*check)(int is_done);
};

/* What each thread does before anything is refused; NULL for nothing. */
extern void (*thread_begins)(void);

/* Tries each operation with each allocation refused, in a child of a fork, in a new thread; prints a table. Gives how
 * many ended otherwise than done or with a clean error, and a fault more for each that asked for no memory, unless its
 * name has "free" in it, and if none was tried. */
int try_all(const struct trial *trials, int count);

#endif
