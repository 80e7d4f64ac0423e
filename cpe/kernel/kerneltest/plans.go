package kerneltest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the files of plans and texts in testdata")

// Plans compares the plans that a test shows with a file; see Golden.
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
	Golden(t, file, b.String())
}

// Golden compares a text with a file. -rewrite writes the file; read the difference.
func Golden(t *testing.T, file, text string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the text differs from %s:\n%s", file, text)
	}
}
