// Package swcaffe is where a Go program begins that loads, runs or trains Caffe's nets. It opens things; what it opens is
// from the packages below:
//
//	net      nets: blobs by name, weights by layer, Forward and Backward
//	solver   training: Step, Solve, snapshots
//	layers   layer types, and Register for one of your own
//	blob     arrays with their gradients
//	proto    the messages of prototxts and caffemodels, for nets that a program makes up
//
// Package predict runs trained nets on images and arrays, many at once.
//
// A program that classifies:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/swcaffe/swcaffe"
//	)
//
//	func main() {
//		device, err := swcaffe.NewDevice(1)
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer device.Machine.Close()
//		net, err := swcaffe.OpenInference(device, "deploy.prototxt", "lenet.caffemodel")
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer net.Close()
//		for i := range net.Blob("data").Data() {
//			net.Blob("data").Data()[i] = 0.5 // your image
//		}
//		if _, err := net.Forward(); err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(net.Blob("prob").Data())
//	}
//
// The examples show the rest: new shapes for a net's inputs, its inner blobs, weights read and moved between nets
// ("net surgery"), values handed to a MemoryData layer, a layer type of your own, and a solver stepped by hand.
//
// A net, a solver and a device are used by one goroutine at a time. Nets may share a device; two nets that run at the same
// time need one each, with a share of the cores (NewDeviceOn).
package swcaffe
