package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestScriptsCoverEveryCommand: for each command, some script runs it successfully, with bad arguments, with a bad file, and for
// its help.
func TestScriptsCoverEveryCommand(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	argument := `(?:need |unexpected argument|unknown flag|invalid value|must be)`
	file := `\w+(?:\.\w+|_lmdb)`
	for _, c := range commands {
		run := `(?m)^(?:exec )?swcaffe ` + c.Name + `\b.*`
		refused := `(?m)^! (?:exec )?swcaffe ` + c.Name + `\b.*\nstderr '.*`
		want := map[string]string{
			"a run":                      run,
			"an example in its help":     `(?m)^swcaffe help ` + c.Name + `\n(?:.*\n)?stdout '\^example: swcaffe ` + c.Name,
			"a refusal of its arguments": refused + argument,
			"a refusal of a file":        refused + file,
		}
		if c.Name == "version" || c.Name == "completion" { // they take no files
			delete(want, "a refusal of a file")
		}
		for what, pattern := range want {
			if !regexp.MustCompile(pattern).MatchString(all.String()) {
				t.Errorf("no script has %s of %s", what, c.Name)
			}
		}
	}
}
