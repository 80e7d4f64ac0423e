package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

var rewrite = flag.Bool("rewrite", false, "write the pictures and tables of the documentation again")

// docsPicture matches the pictures that commands in the documentation draw.
var docsPicture = regexp.MustCompile(`docs/(\S+\.svg)`)

// TestDocs runs the commands in pages of docs that draw pictures. The pictures beside the commands must look like the drawn ones,
// and the tables below must equal the output. With -rewrite, the test replaces them; check the new ones by eye.
func TestDocs(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors fuse multiplications and additions, so that last digits differ")
	}
	t.Chdir("../..")
	for _, page := range []string{"docs/machines.md", "docs/scaling.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) { checkPage(t, page) })
	}
}

func checkPage(t *testing.T, page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		command, ok := strings.CutPrefix(lines[i], "    swcaffe ")
		if !ok || !docsPicture.MatchString(command) {
			continue
		}
		table := runDocs(t, command)
		// A table begins after a blank line and is indented like the command.
		if i+2 < len(lines) && lines[i+1] == "" && strings.HasPrefix(lines[i+2], "    ") {
			end := i + 2
			for end < len(lines) && (lines[end] == "" || strings.HasPrefix(lines[end], "    ")) {
				end++
			}
			out = append(append(out, ""), table...)
			i = end - 2 // the blank line behind the table
		}
	}
	want := strings.Join(out, "\n")
	if want == string(text) {
		return
	}
	if !*rewrite {
		t.Errorf("%s is out of date (go test ./cmd/swcaffe -run TestDocs -rewrite); its tables should be:\n%s", page, want)
	} else if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runDocs runs a command, on one processor and on all, compares its picture with the one in docs, and returns its output,
// indented.
func runDocs(t *testing.T, command string) []string {
	t.Helper()
	path := filepath.Join("docs", docsPicture.FindStringSubmatch(command)[1])
	all := runtime.GOMAXPROCS(1)
	alone, stdoutAlone := drawDocs(t, command)
	runtime.GOMAXPROCS(max(all, 2))
	picture, stdout := drawDocs(t, command)
	runtime.GOMAXPROCS(all)
	if !bytes.Equal(alone, picture) || stdoutAlone != stdout {
		t.Errorf("swcaffe %s draws or prints something else on one processor", command)
	}
	have, err := os.ReadFile(path)
	if err == nil {
		err = samePicture(picture, have)
	}
	switch {
	case err == nil:
	case *rewrite:
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what swcaffe %s draws (go test ./cmd/swcaffe -run TestDocs -rewrite; then look at it): %v", path, command, err)
	}
	var table []string
	for line := range strings.Lines(stdout) {
		table = append(table, strings.TrimRight("    "+strings.TrimRight(line, "\n"), " "))
	}
	return table
}

// drawDocs runs a command with its picture elsewhere, and returns this and what is printed.
func drawDocs(t *testing.T, command string) (picture []byte, stdout string) {
	t.Helper()
	drawn := filepath.Join(t.TempDir(), "drawn.svg")
	args := strings.Fields(docsPicture.ReplaceAllLiteralString(command, drawn))
	var out, log bytes.Buffer
	if code := commands.Run(&cli.Env{Log: glog.New(&log), Stdout: &out, Stderr: &log}, args); code != 0 {
		t.Fatalf("swcaffe %s: exit code %d\n%s", command, code, log.String())
	}
	picture, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	return picture, out.String()
}
