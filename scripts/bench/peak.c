/* The multiply-add peak of one core in G operations/s: ten independent chains of multiply-adds in the widest vectors that the compiler's target has. Two runs' best.
 * Without an argument the factors are of float32, with bf16 or int8 of that type, where the target multiplies them in pairs or fours. Build with -O2 -march=native. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
typedef float vector __attribute__((vector_size(64)));
#define FLOAT32 "vfmadd231ps %1, %2, %0"
#define CLASS "v"
#elif defined(__AVX2__) && defined(__FMA__)
typedef float vector __attribute__((vector_size(32)));
#define FLOAT32 "vfmadd231ps %1, %2, %0"
#define CLASS "x"
#else
#error "no fused multiply-add in vectors of 8 or 16"
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Measures an instruction that multiplies so many factors in each place of a float32. */
#define RATE(name, instruction, factors)                                                                                          \
  static double name(void) {                                                                                                      \
    const long steps = 20000000;                                                                                                  \
    const double operations = 10.0 * 2 * factors * sizeof(vector) / sizeof(float) * steps;                                        \
    double best = 0;                                                                                                              \
    vector x = {0}, y = {0}, a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0}, i = {0}, j = {0};            \
    for (int run = 0; run < 2; run++) {                                                                                           \
      double start = now();                                                                                                       \
      for (long n = 0; n < steps; n++) {                                                                                          \
        ADD(instruction, a); ADD(instruction, b); ADD(instruction, c); ADD(instruction, d); ADD(instruction, e);                  \
        ADD(instruction, f); ADD(instruction, g); ADD(instruction, h); ADD(instruction, i); ADD(instruction, j);                  \
      }                                                                                                                           \
      double rate = operations / (now() - start) / 1e9;                                                                           \
      if (rate > best) best = rate;                                                                                               \
    }                                                                                                                             \
    return best;                                                                                                                  \
  }
#define ADD(instruction, acc) __asm__ volatile(instruction : "+" CLASS (acc) : CLASS (x), CLASS (y))

RATE(float32, FLOAT32, 1)
#if defined(__AVX512BF16__)
RATE(bf16, "vdpbf16ps %1, %2, %0", 2)
#endif
#if defined(__AVX512VNNI__)
RATE(int8, "vpdpbusd %1, %2, %0", 4)
#endif

int main(int argc, char **argv) {
  const char *type = argc > 1 ? argv[1] : "fp32";
  double rate = 0;
  if (!strcmp(type, "fp32")) rate = float32();
#if defined(__AVX512BF16__)
  if (!strcmp(type, "bf16")) rate = bf16();
#endif
#if defined(__AVX512VNNI__)
  if (!strcmp(type, "int8")) rate = int8();
#endif
  if (rate == 0) {
    fprintf(stderr, "this target has no product of %s\n", type);
    return 1;
  }
  printf("%.1f\n", rate);
  return 0;
}
