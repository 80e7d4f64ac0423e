/* What the programs that time a library's convolutions share: a problem a line of standard input, as scripts/bench/layers.py writes it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Numbers of images, channels, outputs and groups; then height and width of the image, the kernel, strides, padding, and distances of a kernel's values. */
struct problem {
  char direction[16];
  long images, channels, outputs, groups, size[2], kernel[2], stride[2], pad[2], dilation[2];
};

static long result(const struct problem *p, int axis) {
  return (p->size[axis] + 2 * p->pad[axis] - (p->dilation[axis] * (p->kernel[axis] - 1) + 1)) / p->stride[axis] + 1;
}

static int read_problem(struct problem *p) {
  return scanf("%15s %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld", p->direction, &p->images, &p->channels, &p->outputs, &p->groups, &p->size[0], &p->size[1],
               &p->kernel[0], &p->kernel[1], &p->stride[0], &p->stride[1], &p->pad[0], &p->pad[1], &p->dilation[0], &p->dilation[1]) == 15;
}

static void die(const char *what, int status) {
  fprintf(stderr, "%s: status %d\n", what, status);
  exit(1);
}

/* Values between -1 and 1: denormal numbers would take longer. */
static void fill(float *values, size_t n) {
  uint32_t state = 1;
  for (size_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float)(int32_t)state / 2147483648.0f;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* The least time of a run in ms, after a first one, in 0.15 s and at least five runs. */
static double least(void (*run)(void *), void *of) {
  double best = 1e9, begin = now();
  run(of);
  for (int n = 0; n < 5 || now() - begin < 0.15; n++) {
    double start = now();
    run(of);
    double took = now() - start;
    if (took < best) best = took;
  }
  return 1e3 * best;
}
