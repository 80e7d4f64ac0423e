package main

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docsCommand matches a command line of ours in an indented block, up to what the shell takes for itself.
var docsCommand = regexp.MustCompile(`(?m)^ {4,}(?:[^#\n]* )?(?:bin/|\./)?swcaffe ([a-z][^|>&;#\n]*)`)

// TestDocumentedCommands: all pages' command lines name commands and flags that there are, and files of the tree that are there.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	checked := 0
	err := filepath.WalkDir(".", func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		text, err := os.ReadFile(page)
		for _, m := range docsCommand.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", ""), -1) {
			checkCommandLine(t, page, strings.Fields(m[1]))
			checked++
		}
		return err
	})
	if err != nil || checked < 70 {
		t.Errorf("%d command lines found, error %v", checked, err)
	}
}

func checkCommandLine(t *testing.T, page string, args []string) {
	name, rest := splitCommand(args)
	c, err := findCommand(name)
	if err != nil {
		t.Errorf("%s: swcaffe %s: %v", page, strings.Join(args, " "), err)
		return
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.setup(flags)
	if err := parseFlags(flags, commonOf(t, c, flags), rest, c.words); err != nil {
		t.Errorf("%s: swcaffe %s: %v", page, strings.Join(args, " "), err)
	}
	for _, arg := range rest {
		if file := strings.TrimPrefix(arg, "-model="); strings.HasPrefix(file, "models/") && strings.HasSuffix(file, ".prototxt") {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
