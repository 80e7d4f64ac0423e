// Package data has the layers that bring values into a net, Data, AnnotatedData, ImageData, WindowData, HDF5Data, MemoryData, DummyData and Input, and one
// that writes values to a file, HDF5Output.
//
// Layers that read batches from a prefetcher embed batchLayer (data_batch.go). It reads ahead, hands out a worker's share of every batch
// (layers.Share), and reports its position in the stream for snapshots. MemoryData is exported because programs feed it.
package data
