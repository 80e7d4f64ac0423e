/* The multiply-add peak of one core in GFLOP/s: ten independent chains of fused multiply-adds in the widest vectors that the
 * compiler's target has. Two runs' best. Build with -O2 -march=native. */
#include <stdio.h>
#include <time.h>

#if defined(__AVX512F__)
typedef float vector __attribute__((vector_size(64)));
#define FMA(acc) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(acc) : "v"(x), "v"(y))
#elif defined(__AVX2__) && defined(__FMA__)
typedef float vector __attribute__((vector_size(32)));
#define FMA(acc) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+x"(acc) : "x"(x), "x"(y))
#else
#error "no fused multiply-add in vectors of 8 or 16"
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(void) {
  const long steps = 20000000;
  const double flops = 10.0 * 2 * sizeof(vector) / sizeof(float) * steps;
  double best = 0;
  vector x = {0}, y = {0}, a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0}, i = {0}, j = {0};
  for (int run = 0; run < 2; run++) {
    double start = now();
    for (long n = 0; n < steps; n++) {
      FMA(a); FMA(b); FMA(c); FMA(d); FMA(e); FMA(f); FMA(g); FMA(h); FMA(i); FMA(j);
    }
    double rate = flops / (now() - start) / 1e9;
    if (rate > best) best = rate;
  }
  printf("%.1f\n", best);
  return 0;
}
