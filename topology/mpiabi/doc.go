// Package mpiabi binds an MPI library while the program runs, without a C compiler, for topology's transport. The program that imports it has MPI.
//
// MPI 5.0 fixes the binary interface of MPI libraries: values of constants, layouts of a status, names of files (libmpi_abi). Open MPI 6 and
// MPICH 5 have it, so that one program runs with both. [library.go] says which files are looked for. Handles are passed as the standard's numbers,
// and arrays as pointers for the time of a call, which blocks.
//
// The package has code for Linux on amd64 and arm64 alone, and none in builds with cgo and the tag mpi, whose binding is package empi. A program that imports it is linked dynamically, by
// github.com/ebitengine/purego, also with CGO_ENABLED=0.
package mpiabi
