package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image/png"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// idx implements "idx FILE EXTENT...": writes bytes counting from 1, as an IDX file with these extents.
func idx(ts *testscript.TestScript, _ bool, args []string) {
	b := binary.BigEndian.AppendUint32(nil, uint32(0x800+len(args)-1))
	n := 1
	for _, a := range args[1:] {
		extent, err := strconv.Atoi(a)
		ts.Check(err)
		n *= extent
		b = binary.BigEndian.AppendUint32(b, uint32(extent))
	}
	for i := range n {
		b = append(b, byte(i+1))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

// gzipped writes "gzipped FROM TO".
func gzipped(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

// cifar writes "cifar FILE LABEL...": an image for every label, red label+1, green label+2, blue label+3.
func cifar(ts *testscript.TestScript, _ bool, args []string) {
	var b []byte
	for _, a := range args[1:] {
		label, err := strconv.Atoi(a)
		ts.Check(err)
		b = append(b, byte(label))
		for c := range 3 {
			b = append(b, bytes.Repeat([]byte{byte(label + c + 1)}, 32*32)...)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

// pngSize implements "pngsize FILE [WIDTH HEIGHT]": checks that a PNG is readable and has this size and more than one colour.
func pngSize(ts *testscript.TestScript, _ bool, args []string) {
	im, err := png.Decode(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	size := im.Bounds().Size()
	if got := fmt.Sprint(size.X, " ", size.Y); len(args) > 1 && got != args[1]+" "+args[2] {
		ts.Fatalf("%s is %s pixels, want %s %s", args[0], got, args[1], args[2])
	}
	first := im.At(0, 0)
	for y := range size.Y {
		for x := range size.X {
			if im.At(x, y) != first {
				return
			}
		}
	}
	ts.Fatalf("%s is blank", args[0])
}
