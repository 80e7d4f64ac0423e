package manpage

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCharacters: what roff reads in another way comes out of it as it went in, and lines in their order.
func TestCharacters(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip(err)
	}
	p := New("x", `a "b"`)
	p.Section("some text")
	p.Text(".hidden -line\n'quoted' \\n(xy \\fB\n\nnext ^~` paragraph\n  own line\n  and \"own\"")
	p.Item("-flag", "VALUE", ".dot\n'and' rest")
	p.Example(`a -b 'c' > d\e`)
	cmd := exec.Command(groff, "-man", "-ww", "-Tascii", "-P-cbou")
	cmd.Stdin = strings.NewReader(string(p.Bytes()))
	var warnings strings.Builder
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Fatalf("%v: %s", err, warnings.String())
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if s := strings.Join(strings.Fields(line), " "); s != "" {
			lines = append(lines, s)
		}
	}
	got := strings.Join(lines[1:len(lines)-1], "\n") // without header and footer
	want := "SOME TEXT\n.hidden -line 'quoted' \\n(xy \\fB\nnext ^~` paragraph\nown line\nand \"own\"\n-flag VALUE\n.dot 'and' rest\na -b 'c' > d\\e"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.HasPrefix(lines[0], "X(1)") || !strings.Contains(lines[len(lines)-1], `a "b"`) {
		t.Errorf("header %q, footer %q", lines[0], lines[len(lines)-1])
	}
}
