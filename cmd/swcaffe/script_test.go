package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) {
	names := map[string]func(){"swcaffe": main, cuttingCommand: cutting}
	for _, name := range cli.ProgramNames() { // scripts call the binary through links
		names[name] = main
	}
	testscript.Main(tests{m}, names)
}

// TestScripts runs the command lines in testdata/script. $MACHINES is the folder of machine files.
func TestScripts(t *testing.T) {
	machines, err := filepath.Abs("../../cpe/machines")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("MACHINES", machines)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"datums": datums, "disjoint": disjoint, "meanfile": meanfile, "waitfor": waitFor, "truncate": truncate,
			"annotated": annotated, "picture": picture, "records": records, "idx": idx, "gzipped": gzipped, "cifar": cifar,
			"pngsize": pngSize, "h5": h5, "exits": exits, "ask": ask,
		},
	})
}

// eachDatum visits the records of a database.
func eachDatum(ts *testscript.TestScript, path string, visit func(key string, d *caffepb.Datum)) {
	db, err := lmdb.Open(ts.MkAbs(path))
	ts.Check(err)
	defer db.Close()
	cursor := db.Cursor()
	for cursor.Next() {
		value, err := cursor.Value()
		ts.Check(err)
		d := &caffepb.Datum{}
		ts.Check(proto.Unmarshal(value, d))
		visit(string(cursor.Key()), d)
	}
	ts.Check(cursor.Err())
}

// datums checks "datums PATH N CHANNELS SIZE": the database holds N images of that shape, keys 00000000 onwards, labels
// 0 to 9.
func datums(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: datums path n channels size")
	}
	n := 0
	eachDatum(ts, args[0], func(key string, d *caffepb.Datum) {
		if want := fmt.Sprintf("%08d", n); key != want {
			ts.Fatalf("entry %d has key %q, want %q", n, key, want)
		}
		shape := fmt.Sprint(d.GetChannels(), d.GetHeight(), d.GetWidth())
		if want := fmt.Sprint(args[2], " ", args[3], " ", args[3]); shape != want {
			ts.Fatalf("entry %d is %s, want %s", n, shape, want)
		}
		if pixels := int(d.GetChannels() * d.GetHeight() * d.GetWidth()); len(d.Data) != pixels || d.GetLabel() < 0 || d.GetLabel() > 9 {
			ts.Fatalf("entry %d has %d pixels and label %d", n, len(d.Data), d.GetLabel())
		}
		n++
	})
	if fmt.Sprint(n) != args[1] {
		ts.Fatalf("%s has %d entries, want %s", args[0], n, args[1])
	}
}

// disjoint checks "disjoint A B": no image of one database is in the other.
func disjoint(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: disjoint path path")
	}
	seen := map[string]string{}
	eachDatum(ts, args[0], func(key string, d *caffepb.Datum) { seen[string(d.Data)] = key })
	eachDatum(ts, args[1], func(key string, d *caffepb.Datum) {
		if other, ok := seen[string(d.Data)]; ok {
			ts.Fatalf("image %s of %s is image %s of %s", key, args[1], other, args[0])
		}
	})
}

// meanfile checks "meanfile FILE DB": the file is a BlobProto with the mean of the database's images.
func meanfile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: meanfile file db")
	}
	mean := &caffepb.BlobProto{}
	ts.Check(proto.Unmarshal([]byte(ts.ReadFile(args[0])), mean))
	sums, n := make([]float64, len(mean.Data)), 0.0
	eachDatum(ts, args[1], func(key string, d *caffepb.Datum) {
		if d.GetChannels() != mean.GetChannels() || d.GetHeight() != mean.GetHeight() || d.GetWidth() != mean.GetWidth() || mean.GetNum() != 1 {
			ts.Fatalf("the mean is not one image of the shape of %s", key)
		}
		for i, v := range d.Data {
			sums[i] += float64(v)
		}
		n++
	})
	for i, s := range sums {
		if math.Abs(s/n-float64(mean.Data[i])) > 1e-4 {
			ts.Fatalf("value %d of the mean is %g, want %g", i, mean.Data[i], s/n)
		}
	}
}

// waitFor waits until a file is there, and has a text if one is given: "waitfor FILE [TEXT]".
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	if !comes(func() bool {
		return exists(ts.MkAbs(args[0])) && (len(args) < 2 || strings.Contains(ts.ReadFile(args[0]), args[1]))
	}) {
		ts.Fatalf("%s did not appear", strings.Join(args, ": "))
	}
}

// truncate writes the first two thirds of a file to another: "truncate FROM TO".
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	whole, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), whole[:len(whole)*2/3], 0o644))
}

// picture writes "picture FILE WIDTH HEIGHT R G B": a PNG of one colour.
func picture(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 6 {
		ts.Fatalf("usage: picture file width height r g b")
	}
	var n [5]int
	for i := range n {
		v, err := strconv.Atoi(args[i+1])
		ts.Check(err)
		n[i] = v
	}
	im := image.NewRGBA(image.Rect(0, 0, n[0], n[1]))
	draw.Draw(im, im.Bounds(), image.NewUniform(color.RGBA{uint8(n[2]), uint8(n[3]), uint8(n[4]), 255}), image.Point{}, draw.Src)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(png.Encode(f, im))
	ts.Check(f.Close())
}

// records prints a line for every record of a database: key, label, channels, height and width, whether it is encoded, and the
// first byte or number of every channel.
func records(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: records backend path")
	}
	w := &strings.Builder{}
	ts.Check(cli.EachRecord(ts.MkAbs(args[1]), args[0], func(r *data.Record) error {
		d := &caffepb.Datum{}
		if err := proto.Unmarshal(r.Raw, d); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s label %d shape %d %d %d encoded %v", r.Key, d.GetLabel(), d.GetChannels(), d.GetHeight(), d.GetWidth(), d.GetEncoded())
		plane := int(d.GetHeight() * d.GetWidth())
		for i := 0; i < len(d.GetData()) && !d.GetEncoded(); i += plane {
			fmt.Fprintf(w, " %d", d.GetData()[i])
		}
		for _, v := range d.GetFloatData() {
			fmt.Fprintf(w, " %g", v)
		}
		w.WriteByte('\n')
		return nil
	}))
	_, err := ts.Stdout().Write([]byte(w.String()))
	ts.Check(err)
}
