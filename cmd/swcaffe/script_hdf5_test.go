package main

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/swcaffe/swcaffe/data/hdf5"
)

// h5 checks "h5 FILE DATASET N...": the file holds a dataset of that shape.
func h5(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: h5 file dataset n...")
	}
	sets, err := hdf5.Read(ts.MkAbs(args[0]), func(name string) bool { return name == args[1] })
	ts.Check(err)
	if len(sets) != 1 {
		ts.Fatalf("%s: no dataset %s", args[0], args[1])
	}
	if got, want := fmt.Sprint(sets[0].Shape), "["+strings.Join(args[2:], " ")+"]"; got != want {
		ts.Fatalf("%s: dataset %s has shape %s, want %s", args[0], args[1], got, want)
	}
}
