package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docsCommand matches a command line of ours in an indented block, up to what the shell takes for itself.
var docsCommand = regexp.MustCompile(`(?m)^ {4,}(?:[^#\n]* )?(?:bin/|\./)?swcaffe ([a-z][^|>&;#\n]*)`)

// TestDocumentedCommands: command lines in all pages use existing commands and flags, and existing files of the tree.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	err := filepath.WalkDir(".", func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		text, err := os.ReadFile(page)
		joined := strings.ReplaceAll(string(text), "\\\n", "")
		found := docsCommand.FindAllStringSubmatch(joined, -1)
		for _, m := range found {
			checkCommandLine(t, page, strings.Fields(m[1]))
		}
		if lines := commandLines(joined); len(found) != lines {
			t.Errorf("%s: %d command lines are checked, it has %d", page, len(found), lines)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// docsPath matches a path in backticks. Names with capital letters, asterisks or my_ stand for the reader's own.
var docsPath = regexp.MustCompile("`([a-z]+(?:/[a-z0-9_.]+)+)`")

// TestDocumentedPaths: the files and folders that the pages about the code name are in the tree.
func TestDocumentedPaths(t *testing.T) {
	t.Chdir("../..")
	for page, atLeast := range map[string]int{"ARCHITECTURE.md": 30, "CONTRIBUTING.md": 5, "docs/features.md": 5} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, m := range docsPath.FindAllStringSubmatch(string(text), -1) {
			top, _, _ := strings.Cut(m[1], "/")
			if _, err := os.Stat(top); err != nil || strings.Contains(m[1], "/my_") {
				continue // a package of Go's or a page's own folder
			}
			checked++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		if checked < atLeast {
			t.Errorf("%s: %d paths are checked, fewer than %d", page, checked, atLeast)
		}
	}
}

// docsLink matches a link or picture of a page to a file of the tree.
var docsLink = regexp.MustCompile(`\]\(([^)#: ]+)(?:#[^)]*)?\)`)

// TestDocumentedLinks: links between the pages, and to pictures, lead to files.
func TestDocumentedLinks(t *testing.T) {
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docsLink.FindAllStringSubmatch(string(text), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if links < 40 {
		t.Errorf("only %d links were found", links)
	}
}

// commandLines counts, word by word, the lines that docsCommand should match.
func commandLines(page string) (n int) {
	for line := range strings.Lines(page) {
		words := strings.Fields(line)
		for i, w := range words[:max(len(words)-1, 0)] {
			if !strings.HasPrefix(line, "    ") || strings.Contains(w, "#") {
				break
			}
			if next := words[i+1][0]; (w == "swcaffe" || w == "bin/swcaffe" || w == "./swcaffe") && 'a' <= next && next <= 'z' {
				n++
				break
			}
		}
	}
	return n
}

func checkCommandLine(t *testing.T, page string, args []string) {
	if err := commands.Check(args); err != nil {
		t.Errorf("%s: swcaffe %s: %v", page, strings.Join(args, " "), err)
	}
	for _, arg := range args {
		if file := strings.TrimPrefix(arg, "-model="); strings.HasPrefix(file, "models/") && strings.HasSuffix(file, ".prototxt") {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
