package data

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
)

// dataLayer reads the first layer of a conformance case's net; paths become absolute.
func dataLayer(t *testing.T, dir string) *caffepb.LayerParameter {
	text, err := os.ReadFile(filepath.Join(dir, "net.prototxt"))
	if err != nil {
		t.Fatal(err)
	}
	var net caffepb.NetParameter
	if err := prototext.Unmarshal(text, &net); err != nil {
		t.Fatal(err)
	}
	if len(net.Layer) == 0 {
		t.Skip("no layer of the current form")
	}
	l := net.Layer[0]
	if p := l.DataParam; p != nil {
		path := filepath.Join(dir, p.GetSource())
		p.Source = &path
	}
	if p := l.TransformParam; p != nil && p.MeanFile != nil {
		path := filepath.Join(dir, p.GetMeanFile())
		p.MeanFile = &path
	}
	return l
}

func open(l *caffepb.LayerParameter, phase caffepb.Phase) (*Prefetcher, error) {
	t, err := NewTransformer(l.TransformParam, phase)
	if err != nil {
		return nil, err
	}
	s, err := OpenDB(l.DataParam)
	if err != nil {
		return nil, err
	}
	p, err := NewPrefetcher(Config{
		Source: s, Decoder: DatumDecoder{Transformer: t}, Transformer: t,
		BatchSize: int(l.DataParam.GetBatchSize()), Ahead: int(l.DataParam.GetPrefetch()),
	})
	if err != nil {
		s.Close()
	}
	return p, err
}

// TestBatches compares the batches of the conformance cases' Data layers.
func TestBatches(t *testing.T) {
	conformance.Each(t, []string{"data_l*db*"}, 18, func(t *testing.T, dir string) {
		var want struct {
			Cmds       [][]string
			Outputs    map[string][]float32
			RTol, ATol float64
		}
		text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		p, err := open(dataLayer(t, dir), caffepb.Phase_TEST)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		got := map[string][]float32{}
		for len(got["label"]) < len(want.Outputs["label"]) || len(got["data"]) < len(want.Outputs["data"]) {
			b, err := p.Next()
			if err != nil {
				t.Fatal(err)
			}
			got["data"] = append(got["data"], b.Data...)
			got["label"] = append(got["label"], b.Labels...)
		}
		for _, top := range []string{"data", "label"} {
			compare(t, top, got[top], want.Outputs[top], want.RTol, want.ATol)
		}
	})
}

func compare(t *testing.T, what string, got, want []float32, rtol, atol float64) {
	t.Helper()
	if len(want) == 0 {
		return
	}
	for i, w := range want {
		if !(math.Abs(float64(got[i]-w)) <= atol+rtol*math.Abs(float64(w))) {
			t.Fatalf("%s[%d] = %v, want %v", what, i, got[i], w)
		}
	}
}

// TestErrorsOfSources: the errors of the conformance cases that cannot be read name the file or the field, and what is wrong with it.
func TestErrorsOfSources(t *testing.T) {
	words := map[string][]string{
		"error_lmdb_corrupt":    {"db/data.mdb", "page"},
		"error_lmdb_missing":    {"nodb", "no such file"},
		"error_leveldb_missing": {"nodb", "no such file"},
		"error_mean_both":       {"mean_file", "mean_value"},
		"error_mean_count":      {"2 times mean_value", "channels"},
		"error_mean_shape":      {"m.binaryproto", "height", "width"},
		"error_crop_too_big":    {"crop_size 9", "data"},
	}
	conformance.Each(t, slices.Collect(maps.Keys(words)), len(words), func(t *testing.T, dir string) {
		p, err := open(dataLayer(t, dir), caffepb.Phase_TEST)
		for i := 0; err == nil && i < 2; i++ {
			_, err = p.Next()
		}
		if err == nil {
			t.Fatal("no error")
		}
		for _, w := range words[filepath.Base(dir)] {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q does not mention %q", err, w)
			}
		}
		t.Log(err)
	})
}
