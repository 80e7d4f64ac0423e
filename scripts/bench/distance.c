/* Prints how long a cache line takes from one processor to another and back, in ns: the first and the last one that this process may use. Where both share a cache it is
   about 50 ns on a Zen 4, otherwise about 300; a virtual machine's processors may move from one to the other. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { TRIPS = 20000, TIMES = 5 };

static _Atomic long line;
static int last;

static void stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void *answer(void *unused) {
  stay_on(last);
  for (long i = 0; i < TRIPS * TIMES; i++) {
    while (atomic_load(&line) != 2 * i + 1) {
    }
    atomic_store(&line, 2 * i + 2);
  }
  return unused;
}

int main(void) {
  cpu_set_t mine;
  int first = -1;
  sched_getaffinity(0, sizeof mine, &mine);
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET(i, &mine)) {
      if (first < 0) first = i;
      last = i;
    }
  }
  if (first == last) return 1; /* there is only one */
  pthread_t other;
  if (pthread_create(&other, NULL, answer, NULL)) return 1;
  stay_on(first);
  double least = 0;
  for (long i = 0, t = 0; t < TIMES; t++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long end = i + TRIPS; i < end; i++) {
      atomic_store(&line, 2 * i + 1);
      while (atomic_load(&line) != 2 * i + 2) {
      }
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ns = ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / TRIPS;
    if (t == 0 || ns < least) least = ns;
  }
  printf("%.0f\n", least);
  return 0;
}
