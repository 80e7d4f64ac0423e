// Package data brings training data to a net. Its central type is the Prefetcher, which keeps the trainer supplied with batches.
//
// Data flows through three parts. A Source delivers raw records in order and starts again after the last one: it reads a database
// (LMDB or LevelDB), a list of image files, or windows of images. A Decoder turns a record into pixels. The Transformer applies
// transform_param: it crops, mirrors, subtracts the mean, scales and writes the result into a batch. The Prefetcher joins the
// three: one goroutine reads, several decode and transform, and the trainer takes finished batches.
//
// The batches do not depend on the number or speed of the goroutines. Records keep their order, and the random draws for a record
// (crop, mirror) are a function of the seed and the record's position in the stream. A position counts records since the start of
// training; a resumed run continues from it.
//
// An AnnotatedDecoder also brings the boxes of an image's objects: package augment changes images and boxes at random, and the Record carries the
// boxes to the Batch.
//
// A PairDecoder reads an image and an image of its pixels' labels, which get the same crop and mirroring.
//
// Channels are in B, G, R order, as in Caffe, because OpenCV reads images in this order.
package data
