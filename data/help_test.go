package data

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// datum returns a serialised datum whose value at (c, y, x) is item + 40c + 7y + x modulo 256.
func datum(t testing.TB, item, channels, height, width int) []byte {
	d := &caffepb.Datum{
		Channels: proto.Int32(int32(channels)), Height: proto.Int32(int32(height)), Width: proto.Int32(int32(width)),
		Label: proto.Int32(int32(item % 10)),
	}
	for c := range channels {
		for y := range height {
			for x := range width {
				d.Data = append(d.Data, pixel(item, c, y, x))
			}
		}
	}
	return marshal(t, d)
}

func pixel(item, c, y, x int) byte { return byte(item + 40*c + 7*y + x) }

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// writeLMDB makes a database of the given values and returns its path.
func writeLMDB(t testing.TB, values ...[]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "train_lmdb")
	w, err := lmdb.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if err := w.Put(fmt.Appendf(nil, "%08d", i), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func lmdbParam(path string) *caffepb.DataParameter {
	return &caffepb.DataParameter{Source: &path, Backend: caffepb.DataParameter_LMDB.Enum()}
}

func levelParam(path string) *caffepb.DataParameter { return &caffepb.DataParameter{Source: &path} }
