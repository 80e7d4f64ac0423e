package swcaffe_test

import (
	"fmt"
	"log"

	"github.com/swcaffe/swcaffe"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/data"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// A net is opened, its input filled, and what it says is read.
func Example() {
	device, err := swcaffe.NewDevice(1)
	if err != nil {
		log.Fatal(err)
	}
	defer device.Machine.Close()
	net, err := swcaffe.OpenNet(device, "models/lenet/deploy.prototxt", swcaffe.Test)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	data := net.Blob("data")
	data.Reshape(1, 1, 28, 28) // one image instead of a batch
	if err := net.Reshape(); err != nil {
		log.Fatal(err)
	}
	for i := range data.Data() {
		data.Data()[i] = float32(i%28) / 28
	}
	if _, err := net.Forward(); err != nil {
		log.Fatal(err)
	}
	sum := float32(0)
	for _, p := range net.Blob("prob").Data() {
		sum += p
	}
	fmt.Printf("%d classes, probabilities add up to %.3f\n", net.Blob("prob").Dim(1), sum)
	fmt.Println("conv2 gives", net.Blob("conv2").Shape())
	fmt.Println("conv1's weights are", net.Params("conv1")[0].Shape())
	// Output:
	// 10 classes, probabilities add up to 1.000
	// conv2 gives [1 50 8 8]
	// conv1's weights are [20 1 5 5]
}

// Net surgery: the weights of a classifier's inner product are those of a convolution that classifies every part of a
// larger image.
func Example_netSurgery() {
	device, err := swcaffe.NewDevice(1)
	if err != nil {
		log.Fatal(err)
	}
	defer device.Machine.Close()
	classifier, err := swcaffe.OpenNet(device, "testdata/classifier.prototxt", swcaffe.Test)
	if err != nil {
		log.Fatal(err)
	}
	defer classifier.Close()
	ip := classifier.Params("ip")
	copy(ip[0].Data(), []float32{
		0.25, 0.25, 0.25, 0.25,
		1, -1, 1, -1,
	})
	copy(ip[1].Data(), []float32{0, 10})

	scanner, err := swcaffe.OpenNet(device, "testdata/scanner.prototxt", swcaffe.Test)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	for i, conv := range scanner.Params("ip_conv") {
		copy(conv.Data(), ip[i].Data()) // 2 x 1 x 2 x 2 and 2 x 4 hold the same values in the same order
	}
	copy(scanner.Blob("data").Data(), []float32{
		0, 0, 4, 4,
		0, 0, 4, 4,
		8, 8, 0, 0,
	})
	if _, err := scanner.Forward(); err != nil {
		log.Fatal(err)
	}
	score := scanner.Blob("score")
	fmt.Println(score.Shape())
	fmt.Println("means", score.Data()[:6])
	fmt.Println("edges", score.Data()[6:])
	// Output:
	// [1 2 2 3]
	// means [0 2 4 4 3 2]
	// edges [10 2 10 10 14 10]
}

// cube computes y = w * x^3, with a weight w that begins at 1. What layers.Base does not have, its methods do: weights in SetUp,
// shapes in Reshape, nothing allocated in Forward and Backward, gradients of bottoms overwritten, those of weights added to.
type cube struct{ layers.Base }

func (l *cube) SetUp(_, _ []*blob.Blob) error {
	return l.AddWeight(&caffepb.FillerParameter{Value: proto.Float32(1)}, 1)
}

func (l *cube) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	return nil
}

func (l *cube) Forward(bottom, top []*blob.Blob) error {
	y, w := top[0].Data(), l.Params()[0].Data()[0]
	for i, x := range bottom[0].Data() {
		y[i] = w * x * x * x
	}
	return nil
}

func (l *cube) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	dy, w := top[0].Diff(), l.Params()[0]
	if l.ParamGrad(0) {
		for i, x := range bottom[0].Data() {
			w.Diff()[0] += x * x * x * dy[i]
		}
	}
	if !propagateDown[0] {
		return nil
	}
	dx := bottom[0].Diff()
	for i, x := range bottom[0].Data() {
		dx[i] = 3 * w.Data()[0] * x * x * dy[i]
	}
	return nil
}

func init() {
	layers.Register(layers.Type{
		Name: "Cube", Doc: "y = x^3",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &cube{layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// A type that a program registers is one that prototxts may name; it stands where Caffe has Python layers. Here it takes
// what the program feeds to a MemoryData layer, two items at a time.
func Example_layerOfYourOwn() {
	device, err := swcaffe.NewDevice(1)
	if err != nil {
		log.Fatal(err)
	}
	defer device.Machine.Close()
	net, err := swcaffe.OpenNet(device, "testdata/fed.prototxt", swcaffe.Train)
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()
	memory := net.Layer(0).(*data.MemoryData)
	if err := memory.Feed([]float32{1, 2, 3, 4, 5, 6, 0, 0, 1, 2, 0, 0}, []float32{0, 1, 0, 1}); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if _, err := net.Forward(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(net.Blob("sums").Data())
	}
	fmt.Println("the weight is", net.Params("cubes")[0].Data())
	// Output:
	// [36 405]
	// [1 8]
	// the weight is [1]
}

// A solver is stepped by hand: the program gives every batch and looks at the weights in between.
func Example_solver() {
	device, err := swcaffe.NewDevice(1)
	if err != nil {
		log.Fatal(err)
	}
	defer device.Machine.Close()
	solver, err := swcaffe.OpenSolver(device, "testdata/line_solver.prototxt")
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()
	net := solver.Net()
	for range 200 {
		for i := range 4 {
			x := float32(i) - 1.5
			net.Blob("x").Data()[i], net.Blob("t").Data()[i] = x, 3*x-2
		}
		if err := solver.Step(1); err != nil {
			log.Fatal(err)
		}
	}
	w, b := net.Params("line")[0].Data()[0], net.Params("line")[1].Data()[0]
	fmt.Printf("after %d iterations: y = %.3f x %+.3f\n", solver.Iter(), w, b)
	// Output:
	// after 200 iterations: y = 3.000 x -2.000
}
