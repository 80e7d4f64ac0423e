/* Times XNNPACK's convolutions forward (Debian's libxnnpack-dev): each line of standard input is a problem (conv_peer.h), each line of output the least time in
 * ms and "xnnpack". Images have channels last. The argument is the number of threads. Build with -lXNNPACK -lpthreadpool. */
#include <pthreadpool.h>
#include <xnnpack.h>

#include <math.h>

#include "conv_peer.h"

#define CHECK(call) do { int status = (call); if (status != xnn_status_success) die(#call, status); } while (0)

static pthreadpool_t pool;

static void run(void *of) { CHECK(xnn_run_operator(of, pool)); }

static float *values(size_t n) {
  float *v = malloc(n * sizeof(float) + XNN_EXTRA_BYTES);
  if (!v) die("malloc", 1);
  fill(v, n);
  return v;
}

static void measure(const struct problem *p) {
  long group = p->channels / p->groups;
  float *in = values((size_t)p->images * p->channels * p->size[0] * p->size[1]), *out = values((size_t)p->images * p->outputs * result(p, 0) * result(p, 1));
  float *weights = values((size_t)p->outputs * group * p->kernel[0] * p->kernel[1]), *bias = values(p->outputs);
  xnn_operator_t convolution;
  CHECK(xnn_create_convolution2d_nhwc_f32(p->pad[0], p->pad[1], p->pad[0], p->pad[1], p->kernel[0], p->kernel[1], p->stride[0], p->stride[1], p->dilation[0], p->dilation[1],
                                          p->groups, group, p->outputs / p->groups, p->channels, p->outputs, weights, bias, -INFINITY, INFINITY, 0, &convolution));
  CHECK(xnn_setup_convolution2d_nhwc_f32(convolution, p->images, p->size[0], p->size[1], in, out, pool));
  printf("%.4f xnnpack\n", least(run, convolution));
  fflush(stdout);
  CHECK(xnn_delete_operator(convolution));
  free(in), free(out), free(weights), free(bias);
}

int main(int argc, char **argv) {
  struct problem p;
  CHECK(xnn_initialize(NULL));
  pool = pthreadpool_create(argc > 1 ? atoi(argv[1]) : 1);
  while (read_problem(&p)) measure(&p);
  return 0;
}
