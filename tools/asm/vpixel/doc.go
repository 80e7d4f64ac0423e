// Package vpixel emits the kernels of internal/base/simd/vpixel. They have vectors of 32 bytes or 16 words at every level.
package vpixel
