// Package vpixel holds the kernels of bytes that decoding and resizing pictures need: the inverse cosine transform, upsampling and colour conversion
// of JPEGs as libjpeg-turbo computes them, and bilinear resizing as OpenCV does. All is integer arithmetic, with the same bits at every level.
// The assembly is AVX2's at both levels: the loops wait for Huffman decoding, so that wider vectors change little.
package vpixel
