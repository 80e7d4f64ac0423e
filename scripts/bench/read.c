/* What a computer needs to have a file's bytes in new memory, for serve.sh: read FILE. It reads the file, which the system has in memory after the first time, into
   new large pages by one thread and by two, and maps it and touches each page. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 2 << 20, PIECE = 4 << 20, TIMES = 5 };

static char *to;
static int fd;
static size_t length;
static long threads;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double processors(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

static void *part(void *which) {
  size_t at = length * (long)which / threads, end = length * ((long)which + 1) / threads;
  while (at < end) {
    ssize_t n = pread(fd, to + at, end - at < PIECE ? end - at : PIECE, at);
    if (n <= 0) exit(1);
    at += n;
  }
  return NULL;
}

int main(int count, char **words) {
  if (count != 2 || (fd = open(words[1], O_RDONLY)) < 0) return 1;
  length = lseek(fd, 0, SEEK_END);
  for (threads = 1; threads <= 2; threads++) {
    double least = 1e9, cpu = 0;
    for (int i = 0; i < TIMES; i++) {
      double begin = now(), spent = processors();
      char *all = mmap(NULL, length + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      to = (char *)(((size_t)all + LARGE - 1) & ~(size_t)(LARGE - 1));
      madvise(to, length, MADV_HUGEPAGE);
      pthread_t list[2];
      for (long k = 0; k < threads; k++) pthread_create(list + k, NULL, part, (void *)k);
      for (long k = 0; k < threads; k++) pthread_join(list[k], NULL);
      if (now() - begin < least) least = now() - begin, cpu = processors() - spent;
      munmap(all, length + LARGE);
    }
    printf("%.0f MB read into new memory by %ld thread%s: %.1f ms at least, %.1f ms of processor time\n", length / 1e6, threads, threads > 1 ? "s" : "", least, cpu);
  }
  double begin = now();
  char *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
  long sum = 0;
  for (size_t i = 0; i < length; i += 4096) sum += map[i];
  printf("mapped, and each page touched: %.1f ms (sum %ld)\n", now() - begin, sum);
}
