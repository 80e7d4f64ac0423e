package proto

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the expected texts in testdata anew; read the diff before you commit it")

// section is a case of a golden file: `== kind: name`, the input, `--`, what is expected.
type section struct{ kind, name, input, want string }

func readSections(t testing.TB, file string) []section {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []section
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		kind, name, ok := strings.Cut(head, ": ")
		if !ok {
			t.Fatalf("%s: the head %q is not kind: name", file, head)
		}
		input, want, _ := strings.Cut(body, "\n--\n")
		all = append(all, section{kind, name, input, want})
	}
	return all
}

// checkSections compares what got makes of each section with what the file expects, or rewrites the file.
func checkSections(t *testing.T, file string, got func(t *testing.T, c section) string) {
	var out strings.Builder
	for i, c := range readSections(t, file) {
		t.Run(c.name, func(t *testing.T) {
			result := got(t, c)
			if i > 0 {
				out.WriteString("\n")
			}
			out.WriteString("== " + c.kind + ": " + c.name + "\n" + c.input + "\n--\n" + result)
			if !*rewrite && strings.TrimRight(result, "\n") != strings.TrimRight(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", result, c.want)
			}
		})
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
