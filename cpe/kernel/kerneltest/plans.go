package kerneltest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the files of plans in testdata")

// Plans compares the plans that a test shows with a file. -rewrite writes the file; read the difference.
func Plans(t *testing.T, file string, show func(add func(shape any, plan fmt.Stringer, err error))) {
	t.Helper()
	var b strings.Builder
	show(func(shape any, plan fmt.Stringer, err error) {
		if err != nil {
			fmt.Fprintf(&b, "%v\n\t%v\n", shape, err)
			return
		}
		fmt.Fprintf(&b, "%v\n\t%v\n", shape, plan)
	})
	if *rewrite {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("plans differ from %s:\n%s", file, b.String())
	}
}
