// Package tensor holds images as the kernels of a convolution read and write them.
//
// [Images] describes a batch by planes or in blocks of 16 channels. Kernels work on a [Span] of its pixels at a time, as [Blocks]: in place, or
// as a copy that Images loads and stores. [Spans] cuts a batch into spans.
//
// The other types are padded copies, in which a kernel offset is the same shift for every pixel. A [Plane] copies lines of a channel with zeros
// around them. [Band] is a copy by planes without dilations, which reads images without padding in place. [Slab] is a copy for any strides and
// dilations, with a plane for each remainder of the coordinates modulo the strides. [BlockBand] is a copy of a block of channels along two
// [Axis] values.
package tensor
