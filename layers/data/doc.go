// Package data has the layers that bring values into a net, and the one that writes them out: Data, ImageData, WindowData, HDF5Data, MemoryData,
// DummyData, Input and HDF5Output.
//
// Layers that read a stream of items embed batchLayer (data_batch.go), which reads ahead, hands out a worker's share of every batch
// (layers.Share) and knows the position in the stream for snapshots. MemoryData is exported, since programs feed it.
package data
