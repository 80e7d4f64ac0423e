package modeltime

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	swnet "github.com/swcaffe/swcaffe/net"
)

// mostUneven is the largest load of a CPE, in bytes by DMA and relative to the mean, that is not an exception.
const mostUneven = 1.10

// fewBytes are too few for all CPEs: eight transfers of 512 bytes each. Smaller requests lose more than idle CPEs do.
const fewBytes = 4096

// unevenPasses are the exceptions: passes whose shapes, or whose algorithms, leave CPEs with different loads.
var unevenPasses = []struct {
	layerType, algorithm string // algorithm "": any
	most                 float64
	reason               string
}{
	{"ConvolutionDepthwise", "", 9, "a group is a product of one row, which only the first row of the mesh loads and stores"},
	{"Permute", "", 2.1, "matrices of 28 or fewer rows are cut into units of a few lines, which are dealt in turn"},
	{"Proposal", "", 17, "an image's boxes are suppressed by one CPE"},
	{"MultiBoxLoss", "", 2.5, "an image's boxes are matched by one CPE; the streams behind are even"},
	{"Concat", "", 1.30, "bottoms of different lengths are copied one after the other, and the shorter ones are too short for all CPEs"},
	{"Convolution", "explicit-gemm", 1.77, "lines of the column matrix are dealt to CPEs in turn; small images have as few as 96"},
	{"Convolution", "explicit-pointwise", 1.21, "a product with 36 columns and 28 rows ends with parts of register blocks"},
	{"Pooling", "", 1.61, "80 planes of 24x24 are dealt to 64 CPEs"},
	{"LRN", "", 1.52, "all channels of some pixels fill LDM; shorter runs of pixels would be more even, and take longer"},
	{"Convolution", "mesh-batch", 1.49, "with four images a core group the product's 4 columns are less than the 8 of the mesh"},
}

// TestBalance: in every pass through every layer of the zoo, on one core group with four images, no CPE moves more than 10 % above the mean. The
// exceptions are those of the list, and passes of few bytes; every exception is met.
func TestBalance(t *testing.T) {
	racing.SkipSequential(t)
	met := make([]bool, len(unevenPasses))
	passes, uneven := 0, 0
	eachPass(t, func(net *swnet.Net, name string, i int, d shape.Direction, use []cpe.Usage) {
		total, most := 0.0, 0.0
		for _, u := range use {
			bytes := float64(u.GetBytes + u.PutBytes)
			total, most = total+bytes, max(most, bytes)
		}
		mean := total / float64(len(use))
		passes++
		if most <= mostUneven*mean || mean < fewBytes {
			return
		}
		uneven++
		for k, e := range unevenPasses {
			if e.layerType == net.LayerType(i) && (e.algorithm == "" || e.algorithm == string(net.Algorithm(i, d))) && most <= e.most*mean {
				met[k] = true
				return
			}
		}
		t.Errorf("%s, %s (%s), %v: a CPE moves up to %.0f bytes, %.3f of the mean", name, net.LayerName(i), net.LayerType(i), d, most, most/mean)
	})
	for k, e := range unevenPasses {
		if !met[k] {
			t.Errorf("no layer of the zoo meets the exception %s %s (%s)", e.layerType, e.algorithm, e.reason)
		}
	}
	t.Logf("%d passes, %d exceptions", passes, uneven)
}

// eachPass traces every pass through every layer of the nets for images, and leaves out layers that differ from earlier ones in their
// names alone.
func eachPass(t *testing.T, visit func(net *swnet.Net, name string, i int, d shape.Direction, use []cpe.Usage)) {
	t.Helper()
	files, err := filepath.Glob("../models/*/train_val.prototxt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d nets, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, path := range files {
		name := filepath.Base(filepath.Dir(path))
		if !imagesKnown(t, path) {
			continue
		}
		o := options(t)
		o.Batch, o.Spec.CoreGroups = 4, 1
		err := o.with(model(t, name), cpe.CostOnly, func(m *cpe.Machine, net *swnet.Net) error {
			for i := range net.NumLayers() {
				key := net.LayerType(i)
				for _, b := range slices.Concat(net.Bottoms(i), net.Tops(i)) {
					key += fmt.Sprint(b.Shape())
				}
				if seen[key] {
					continue
				}
				seen[key] = true
				for d, run := range []func() error{
					func() error { _, err := net.ForwardLayer(i); return err },
					func() error { return net.BackwardLayerPart(i, swnet.WeightGradients) },
					func() error { return net.BackwardLayerPart(i, swnet.InputGradients) },
				} {
					m.StartTrace()
					if err := run(); err != nil {
						return err
					}
					visit(net, name, i, shape.Direction(d), m.StopTrace())
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// imagesKnown reports whether a net of the zoo gives the size of its images, or the tests know it.
func imagesKnown(t *testing.T, path string) bool {
	t.Helper()
	if images[filepath.Base(filepath.Dir(path))] != nil {
		return true
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), "crop_size") || strings.Contains(string(text), "resize_param")
}
