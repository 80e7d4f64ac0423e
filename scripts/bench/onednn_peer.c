/* Times oneDNN's convolutions (Debian's libdnnl-dev, version 2): each line of standard input is a problem (conv_peer.h), each line of output the least time in
 * ms and the name of the implementation. Layouts of images and weights are those that the library asks for, and reordering is not timed, as in a net that keeps
 * them. Threads are OMP_NUM_THREADS. Build with -ldnnl. */
#include <oneapi/dnnl/dnnl.h>

#include "conv_peer.h"

#define CHECK(call) do { int status = (call); if (status != dnnl_success) die(#call, status); } while (0)

static dnnl_engine_t engine;
static dnnl_stream_t stream;

struct job {
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t args[4];
  int count;
};

static void run(void *of) {
  struct job *job = of;
  CHECK(dnnl_primitive_execute(job->primitive, stream, job->count, job->args));
  CHECK(dnnl_stream_wait(stream));
}

static dnnl_memory_desc_t any(int n, const dnnl_dim_t *dims) {
  dnnl_memory_desc_t md;
  CHECK(dnnl_memory_desc_init_by_tag(&md, n, dims, dnnl_f32, dnnl_format_tag_any));
  return md;
}

static void add(struct job *job, const_dnnl_primitive_desc_t pd, int arg, dnnl_query_t what, int index) {
  const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(pd, what, index);
  dnnl_memory_t memory;
  void *values;
  CHECK(dnnl_memory_create(&memory, md, engine, DNNL_MEMORY_ALLOCATE));
  CHECK(dnnl_memory_get_data_handle(memory, &values));
  fill(values, dnnl_memory_desc_get_size(md) / sizeof(float));
  job->args[job->count++] = (dnnl_exec_arg_t){arg, memory};
}

static void measure(const struct problem *p) {
  dnnl_dims_t in = {p->images, p->channels, p->size[0], p->size[1]}, out = {p->images, p->outputs, result(p, 0), result(p, 1)}, biases = {p->outputs};
  dnnl_dims_t grouped = {p->groups, p->outputs / p->groups, p->channels / p->groups, p->kernel[0], p->kernel[1]};
  dnnl_dims_t plain = {p->outputs, p->channels, p->kernel[0], p->kernel[1]}, strides, pad, dilates, over;
  for (int i = 0; i < 2; i++) {
    strides[i] = p->stride[i], pad[i] = p->pad[i], dilates[i] = p->dilation[i] - 1;
    over[i] = (out[2 + i] - 1) * strides[i] + p->dilation[i] * (p->kernel[i] - 1) + 1 - in[2 + i] - pad[i];
  }
  dnnl_memory_desc_t src = any(4, in), dst = any(4, out), bias = any(1, biases), weights = p->groups > 1 ? any(5, grouped) : any(4, plain);
  int forward = !strcmp(p->direction, "forward"), sums = !strcmp(p->direction, "weights");
  dnnl_convolution_desc_t first, desc;
  dnnl_primitive_desc_t hint, pd;
  CHECK(dnnl_dilated_convolution_forward_desc_init(&first, forward ? dnnl_forward_inference : dnnl_forward_training, dnnl_convolution_auto, &src, &weights, &bias, &dst, strides,
                                                   dilates, pad, over));
  CHECK(dnnl_primitive_desc_create(&hint, &first, NULL, engine, NULL));
  pd = hint;
  if (sums) {
    CHECK(dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_auto, &src, &weights, &bias, &dst, strides, dilates, pad, over));
    CHECK(dnnl_primitive_desc_create(&pd, &desc, NULL, engine, hint));
  } else if (!forward) {
    CHECK(dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_auto, &src, &weights, &dst, strides, dilates, pad, over));
    CHECK(dnnl_primitive_desc_create(&pd, &desc, NULL, engine, hint));
  }
  struct job job = {0};
  CHECK(dnnl_primitive_create(&job.primitive, pd));
  if (forward) {
    add(&job, pd, DNNL_ARG_SRC, dnnl_query_src_md, 0);
    add(&job, pd, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0);
    add(&job, pd, DNNL_ARG_BIAS, dnnl_query_weights_md, 1);
    add(&job, pd, DNNL_ARG_DST, dnnl_query_dst_md, 0);
  } else if (sums) {
    add(&job, pd, DNNL_ARG_SRC, dnnl_query_src_md, 0);
    add(&job, pd, DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0);
    add(&job, pd, DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, 0);
    add(&job, pd, DNNL_ARG_DIFF_BIAS, dnnl_query_diff_weights_md, 1);
  } else {
    add(&job, pd, DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, 0);
    add(&job, pd, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0);
    add(&job, pd, DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, 0);
  }
  const char *name;
  CHECK(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name));
  printf("%.4f %s\n", least(run, &job), name);
  fflush(stdout);
  for (int i = 0; i < job.count; i++) CHECK(dnnl_memory_destroy(job.args[i].memory));
  CHECK(dnnl_primitive_destroy(job.primitive));
  if (pd != hint) CHECK(dnnl_primitive_desc_destroy(pd));
  CHECK(dnnl_primitive_desc_destroy(hint));
}

int main(void) {
  struct problem p;
  CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
  CHECK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
  while (read_problem(&p)) measure(&p);
  return 0;
}
