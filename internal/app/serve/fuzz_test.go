package serve

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/proto/inferencepb"
	"google.golang.org/protobuf/proto"
)

// FuzzInfer: bodies of infer are read or refused; what is read has as many values as its shape says.
func FuzzInfer(f *testing.F) {
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"FP32","shape":[2],"data":[1,[2]]}]}`), 1000)
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":6}}]}`+"\x02\x00\x00\x00ab"), 92)
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"INT16","shape":[1],"parameters":{"binary_data_size":2}}]}`+"ab"), 92)
	f.Fuzz(func(t *testing.T, body []byte, header int) {
		_, list, err := parseInfer(body, min(max(header, 0), len(body)))
		if err != nil {
			if s := statusOf(err); s < 400 || s > 499 {
				t.Errorf("status %d: %v", s, err)
			}
			return
		}
		checkCounts(t, list)
	})
}

// checkCounts: tensors have as many values as their shapes say.
func checkCounts(t *testing.T, list []tensor) {
	for _, x := range list {
		n := 1
		for _, d := range x.shape {
			n *= d
		}
		if len(x.values)+len(x.elements) != n {
			t.Errorf("shape %v, %d values, %d elements", x.shape, len(x.values), len(x.elements))
		}
	}
}

// FuzzGRPC: messages of infer over gRPC are read or refused; what is read has as many values as its shape says.
func FuzzGRPC(f *testing.F) {
	seed := func(r *inferencepb.ModelInferRequest) {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, d := range datatypes {
		if c := fill(d.name, []float32{0, 1}); c != nil {
			r := request(d.name, 2, c)
			r.Inputs[0].Shape = []int64{1, 2}
			seed(r)
		}
	}
	seed(request("BF16", 0, nil, []byte{}))
	seed(request("BYTES", 1, &inferencepb.InferTensorContents{BytesContents: slices.Repeat([][]byte{{1}}, 60)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &inferencepb.ModelInferRequest{}
		if proto.Unmarshal(b, r) != nil {
			return // the library refuses it
		}
		list, err := readTensors(r)
		if err == nil {
			checkCounts(t, list)
		} else if s := statusOf(err); s < 400 || s > 499 {
			t.Errorf("status %d: %v", s, err)
		}
	})
}

// FuzzBinary: the bytes of tensors of every datatype are read or refused; elements of BYTES are written as they were.
func FuzzBinary(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00ab\x00\x00\x00\x00"), 2, 13)
	f.Add([]byte("abcd"), 2, 9)
	f.Fuzz(func(t *testing.T, b []byte, count, kind int) {
		d := datatypes[uint(kind)%uint(len(datatypes))]
		count = min(max(count, 0), math.MaxInt32)
		if d.size > 0 {
			if list, err := d.readBinary(b, count); err == nil && len(list) != count {
				t.Errorf("%s: %d values, want %d", d.name, len(list), count)
			}
			return
		}
		list, err := readElements(b, count)
		if err != nil {
			return
		}
		var texts []string
		for _, e := range list {
			texts = append(texts, string(e))
		}
		if again := appendElements(nil, texts); !slices.Equal(again, b) {
			t.Errorf("%q became %q", b, again)
		}
	})
}

// TestNumbers: what JSON tells apart are the bits; NaN and infinities are null.
func TestNumbers(t *testing.T) {
	list := []float32{0, 1.5, -1e-40, math.MaxFloat32, 0.1, 1e21}
	var again []float32
	if err := json.Unmarshal(numbers(list), &again); err != nil || !slices.Equal(again, list) {
		t.Errorf("%v became %v: %v", list, again, err)
	}
	if got := string(numbers([]float32{float32(math.NaN()), float32(math.Inf(-1))})); got != "[null,null]" {
		t.Errorf("NaN and infinity: %s", got)
	}
}
