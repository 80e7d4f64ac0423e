// Package data brings training data to a net: databases of Datums (LMDB, LevelDB), image files and windows of them,
// Caffe's transform_param, and the prefetcher that keeps the trainer fed.
//
// Data flows through three parts. A Source hands out raw records in order, and starts again at its end. A Decoder makes
// pixels of a record, and the Transformer writes them, cropped, mirrored, mean-subtracted and scaled, where a batch
// wants them. The Prefetcher joins the three: one goroutine reads, several decode and transform, the trainer takes
// finished batches.
//
// Nothing depends on the number or speed of the goroutines: records keep their order, and the random draws of a
// record (crop, mirror) are a function of the seed and of the record's position in the stream. A position is a
// number of records since the start, which is also how a stopped run continues.
//
// Channels are in B, G, R order, as in Caffe, since OpenCV reads images so.
package data
