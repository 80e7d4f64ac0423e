// Package vnorm emits the kernels of batch normalisation and of local response normalisation.
package vnorm
