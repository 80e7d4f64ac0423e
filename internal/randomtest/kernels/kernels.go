// Package kernels draws random problems of single kernels: products, convolutions, pooling, normalisation and streams.
package kernels

import "github.com/swcaffe/swcaffe/internal/randomtest"

// Kinds are the kinds of problems, one for each family of kernels.
func Kinds() []randomtest.Kind { return nil }
