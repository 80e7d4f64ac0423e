// Package empi binds the MPI library that the C compiler finds, by github.com/emer/empi, for topology's transport. It has code in builds with
// cgo and the tag mpi alone; the program that imports it there has MPI.
//
// empi starts and ends MPI. Of its calls between ranks there is no send-receive, its errors are fatal, and empty slices panic: messages are
// sent by the C functions here.
package empi
