package data

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// dataDB writes n Datums of 2 x 3 x height(i) values: item i has label i and the values i, i+1, ...
func dataDB(t *testing.T, n int, height func(i int) int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "db")
	w, err := lmdb.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		d := &caffepb.Datum{
			Channels: proto.Int32(2), Height: proto.Int32(int32(height(i))), Width: proto.Int32(3), Label: proto.Int32(int32(i)),
		}
		for v := range 2 * height(i) * 3 {
			d.Data = append(d.Data, byte(i+v))
		}
		b, err := proto.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put(fmt.Appendf(nil, "%05d", i), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// dataDevices returns a device for each path of a data layer.
func dataDevices(t testing.TB) map[string]*layers.Device {
	devices := map[string]*layers.Device{}
	for _, d := range []struct {
		name, machine string
		engine        layers.Engine
		mode          cpe.Mode
	}{
		{"mpe", "host", layers.MPE, cpe.Native}, {"cpe host", "host", layers.CPE, cpe.Native}, {"cpe sw26010", "sw26010", layers.CPE, cpe.Functional},
	} {
		spec, err := cpe.Load(d.machine)
		if err != nil {
			t.Fatal(err)
		}
		m, err := cpe.New(spec, d.mode)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		devices[d.name] = &layers.Device{Engine: d.engine, Machine: m, Random: layers.NewRandom(1)}
	}
	return devices
}

func newData(t *testing.T, text string, d *layers.Device) *dataLayer {
	t.Helper()
	var p caffepb.LayerParameter
	if err := prototext.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	entry, err := layers.Find("Data")
	if err != nil {
		t.Fatal(err)
	}
	l := entry.New(&p, d).(*dataLayer)
	t.Cleanup(func() { l.Close() })
	return l
}

func TestDataLayer(t *testing.T) {
	path := dataDB(t, 7, func(int) int { return 4 })
	for name, d := range dataDevices(t) {
		t.Run(name, func(t *testing.T) {
			l := newData(t, fmt.Sprintf("data_param { source: %q batch_size: 3 backend: LMDB }", path), d)
			top := []*blob.Blob{{}, {}}
			if err := l.SetUp(nil, top); err != nil {
				t.Fatal(err)
			}
			if err := l.Reshape(nil, top); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(top[0].Shape(), []int{3, 2, 4, 3}) || !slices.Equal(top[1].Shape(), []int{3}) {
				t.Fatalf("tops %v and %v", top[0].Shape(), top[1].Shape())
			}
			item := 0
			forward := func() {
				t.Helper()
				if err := l.Forward(nil, top); err != nil {
					t.Fatal(err)
				}
				for i, label := range top[1].Data() {
					want := float32((item + i) % 7)
					if first := top[0].Data()[24*i]; label != want || first != want || top[0].Data()[24*i+23] != want+23 {
						t.Fatalf("item %d: label %v, first value %v", item+i, label, first)
					}
				}
				item += 3
			}
			for range 6 {
				forward()
			}
			if l.Position() != 18 {
				t.Errorf("position %d, want 18", l.Position())
			}
			item = 4
			if err := l.SetPosition(4); err != nil {
				t.Fatal(err)
			}
			forward()
			forward()
			if l.DataWait() <= 0 {
				t.Error("no waiting time")
			}
		})
	}
}

// TestDataLayerFollowsShapes: the top takes the shape of each batch's first item.
func TestDataLayerFollowsShapes(t *testing.T) {
	path := dataDB(t, 4, func(i int) int { return 2 + i/2 })
	for name, d := range dataDevices(t) {
		t.Run(name, func(t *testing.T) {
			l := newData(t, fmt.Sprintf("data_param { source: %q batch_size: 2 backend: LMDB }", path), d)
			top := []*blob.Blob{{}}
			if err := l.SetUp(nil, top); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if err := l.Forward(nil, top); err != nil {
					t.Fatal(err)
				}
				h := 2 + i%2
				if !slices.Equal(top[0].Shape(), []int{2, 2, h, 3}) || top[0].Data()[6*h] != float32(2*(i%2)+1) {
					t.Fatalf("batch %d: shape %v, second item begins with %v", i, top[0].Shape(), top[0].Data()[6*h])
				}
			}
		})
	}
}

// TestDataLayerSkipsNothing: rand_skip, which Caffe has dropped, has no effect with any seed.
func TestDataLayerSkipsNothing(t *testing.T) {
	path := dataDB(t, 50, func(int) int { return 1 })
	for seed := range uint64(5) {
		d := dataDevices(t)["mpe"]
		d.Random = layers.NewRandom(seed)
		l := newData(t, fmt.Sprintf("data_param { source: %q batch_size: 1 backend: LMDB rand_skip: 40 }", path), d)
		top := []*blob.Blob{{}, {}}
		if err := l.SetUp(nil, top); err != nil {
			t.Fatal(err)
		}
		if err := l.Forward(nil, top); err != nil {
			t.Fatal(err)
		}
		if got := top[1].Data()[0]; got != 0 {
			t.Errorf("seed %d: the first item is %g", seed, got)
		}
	}
}

func TestDataLayerErrors(t *testing.T) {
	path := dataDB(t, 3, func(int) int { return 4 })
	d := dataDevices(t)["mpe"]
	for _, c := range []struct{ text, want string }{
		{fmt.Sprintf("data_param { source: %q backend: LMDB }", path), "batch_size must be positive"},
		{"data_param { batch_size: 1 }", "source is not set"},
		{`data_param { source: "/no/such/db" batch_size: 1 }`, "/no/such/db"},
		{fmt.Sprintf("data_param { source: %q batch_size: 1 backend: LMDB } transform_param { crop_size: 5 }", path),
			"crop_size 5 is larger than the data: height 4, width 3"},
		{fmt.Sprintf("data_param { source: %q batch_size: 1 backend: LMDB } transform_param { mean_value: 1 mean_value: 2 mean_value: 3 }", path),
			"3 times mean_value for data of 2 channels"},
	} {
		l := newData(t, c.text, d)
		err := l.SetUp(nil, []*blob.Blob{{}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
