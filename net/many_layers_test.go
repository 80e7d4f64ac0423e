package net_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// manyLayers is the number of layers of TestManyLayers, and longestBuild the time limit. Building takes a second; a quadratic step would
// take minutes.
const manyLayers, longestBuild = 10_000, time.Minute

// TestManyLayers: the time to build deep and wide nets does not grow with the square of the number of layers.
func TestManyLayers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds large nets")
	}
	const small = `inner_product_param { num_output: 4 }`
	kinds := []string{`type: "InnerProduct" ` + small, `type: "TanH"`, `type: "Power"`}
	for name, write := range map[string]func(w *strings.Builder){
		"chain": func(w *strings.Builder) {
			for i := range manyLayers {
				fmt.Fprintf(w, "layer { name: \"l%d\" bottom: \"b%d\" top: \"b%d\" %s }\n", i, i, i+1, kinds[i%3])
			}
		},
		"fan": func(w *strings.Builder) {
			var all strings.Builder
			for i := range manyLayers {
				fmt.Fprintf(w, "layer { name: \"l%d\" bottom: \"b0\" top: \"c%d\" %s }\n", i, i, kinds[i%3])
				fmt.Fprintf(&all, "bottom: \"c%d\" ", i)
			}
			fmt.Fprintf(w, "layer { name: \"all\" type: \"Concat\" %s top: \"all\" }\n", all.String())
		},
		"in place": func(w *strings.Builder) {
			for i := 0; i < manyLayers; i += 2 {
				fmt.Fprintf(w, "layer { name: \"l%d\" bottom: \"b%d\" top: \"b%d\" %s }\n", i, i, i+2, kinds[0])
				fmt.Fprintf(w, "layer { name: \"r%d\" type: \"ReLU\" bottom: \"b%d\" top: \"b%d\" }\n", i, i+2, i+2)
			}
		},
		"residual": func(w *strings.Builder) {
			for i := 0; i < manyLayers; i += 4 {
				fmt.Fprintf(w, "layer { name: \"l%d\" bottom: \"b%d\" top: \"c%d\" %s }\n", i, i, i, kinds[0])
				fmt.Fprintf(w, "layer { name: \"t%d\" type: \"TanH\" bottom: \"c%d\" top: \"d%d\" }\n", i, i, i)
				fmt.Fprintf(w, "layer { name: \"m%d\" bottom: \"d%d\" top: \"e%d\" %s }\n", i, i, i, kinds[0])
				fmt.Fprintf(w, "layer { name: \"s%d\" type: \"Eltwise\" bottom: \"b%d\" bottom: \"e%d\" top: \"b%d\" }\n", i, i, i, i+4)
			}
		},
	} {
		var w strings.Builder
		w.WriteString("layer { name: \"x\" type: \"Input\" top: \"b0\" input_param { shape { dim: 2 dim: 4 } } }\n")
		write(&w)
		p := &caffepb.NetParameter{}
		if _, err := swproto.UnmarshalText(name, []byte(w.String()), p); err != nil {
			t.Fatal(err)
		}
		spec, err := cpe.Load("host")
		if err != nil {
			t.Fatal(err)
		}
		m, err := cpe.New(spec, cpe.DefaultMode(spec))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		n, err := swnet.New(p, swnet.Options{
			State:  &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()},
			Device: &layers.Device{Engine: layers.CPE, Machine: m, Random: layers.NewRandom(1)}, Economise: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > longestBuild || n.NumLayers() < manyLayers {
			t.Errorf("%s: %d layers were built in %v, want %d in less than %v", name, n.NumLayers(), took, manyLayers, longestBuild)
		}
		n.Close()
		m.Close()
	}
}
