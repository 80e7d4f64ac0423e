package main

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// annotated prints the records of an LMDB of AnnotatedDatum records, with a line for each object.
func annotated(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: annotated path")
	}
	w := &strings.Builder{}
	ts.Check(cli.EachRecord(ts.MkAbs(args[0]), "lmdb", func(r *data.Record) error {
		a := &caffepb.AnnotatedDatum{}
		if err := proto.Unmarshal(r.Raw, a); err != nil {
			return err
		}
		d, kind := a.GetDatum(), "none"
		if a.Type != nil {
			kind = a.GetType().String()
		}
		fmt.Fprintf(w, "%s label %d shape %d %d %d %s\n", r.Key, d.GetLabel(), d.GetChannels(), d.GetHeight(), d.GetWidth(), kind)
		for _, g := range a.GetAnnotationGroup() {
			for _, o := range g.GetAnnotation() {
				b := o.GetBbox()
				fmt.Fprintf(w, " class %d instance %d %g %g %g %g difficult %v\n", g.GetGroupLabel(), o.GetInstanceId(),
					b.GetXmin(), b.GetYmin(), b.GetXmax(), b.GetYmax(), b.GetDifficult())
			}
		}
		return nil
	}))
	_, err := ts.Stdout().Write([]byte(w.String()))
	ts.Check(err)
}
