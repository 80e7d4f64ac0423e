package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// help stands in for the program.
func help(args ...string) (string, error) {
	if len(args) == 1 {
		return "swcaffe ...\n\ntrain nets:\n  train    train a <model>\n\nFlags take one dash.\n", nil
	}
	return "usage: swcaffe " + args[1] + "\nSee docs/a.md.\n\nflags:\n  -solver FILE\n    the <solver>\n", nil
}

// build makes a site of files and returns its folder.
func build(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	root, out := t.TempDir(), t.TempDir()
	var names []string
	for name, content := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".md" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	s := &site{root: root, out: out}
	for _, name := range names {
		if err := s.read(name); err != nil {
			return "", err
		}
	}
	if err := s.commands(help); err != nil {
		return "", err
	}
	if err := s.write(); err != nil {
		return "", err
	}
	return out, check(out)
}

// small is a site with every kind of link.
func small() map[string]string {
	return map[string]string{
		"README.md":      "# Name\n\n[index](docs/README.md) and [elsewhere](https://example.com/x.md)\n",
		"docs/README.md": "# Docs\n\nFor users:\n\n* [a](a.md): A; [part](a.md#two-words-b_c)\n",
		"docs/a.md":      "# Page A\n\n[data](../data) [file](../x.csv) ![p](p.svg)\n\n## Two words, `b_c`\n\n| k |\n|---|\n| <v> |\n\n## Two words, `b_c`\n\n[here](#two-words-b_c-1)\n\n    code <&>\n",
		"docs/p.svg":     "<svg/>", "x.csv": "1", "data/y z.csv": "2",
	}
}

func TestSite(t *testing.T) {
	out, err := build(t, small())
	if err != nil {
		t.Fatal(err)
	}
	for name, wanted := range map[string][]string{
		"index.html":          {`<a href="docs/index.html">index</a>`, `href="https://example.com/x.md"`, `<summary>For users</summary>`, `<a href="docs/a.html">Page A</a>`},
		"docs/a.html":         {`<a href="../data/index.html">`, `id="two-words-b_c-1"`, `code &lt;&amp;&gt;`, `<div class="wide"><table>`, `class="here"`, `href="../style.css"`},
		"data/index.html":     {`<a href="y%20z.csv.txt">y z.csv</a>`},
		"data/y z.csv.txt":    {"2"},
		"commands/train.html": {`<a href="../docs/a.html">docs/a.md</a>`, `the &lt;solver&gt;`},
		"commands/index.html": {`<h2>Train nets</h2>`, `train a &lt;model&gt;`},
		"index.js":            {`["docs/a.html#two-words-b_c-1","Page A","Two words, b_c","here code \u003c\u0026\u003e"]`, `"commands/train.html"`},
	} {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		}
		for _, w := range wanted {
			if !strings.Contains(string(content), w) {
				t.Errorf("%s lacks %s:\n%s", name, w, content)
			}
		}
	}
}

// TestFaults makes a fault of each kind, which must be reported.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, wanted string }{
		{"docs/a.md", "# A\n\n[x](missing.md)\n", "docs/a.md links to missing.md"},
		{"docs/a.md", "# A\n\n![x](missing.png)\n", "docs/a.md links to missing.png"},
		{"docs/a.md", "# A\n\n## Two words, `b_c`\n\n[x](#nowhere)\n", "docs/a.html links to #nowhere: that page has no such place"},
		{"README.md", "# N\n\n[x](docs/a.md#nowhere)\n", "index.html links to docs/a.html#nowhere: that page has no such place"},
		{"docs/a.md", "text\n", "docs/a.md does not begin with a heading"},
	} {
		files := small()
		files[c.name] = c.text
		if _, err := build(t, files); err == nil || !strings.Contains(err.Error(), c.wanted) {
			t.Errorf("%s %q: error %v, not %s", c.name, c.text, err, c.wanted)
		}
	}
}

// TestUnreached removes the menu's links to a page.
func TestUnreached(t *testing.T) {
	out, err := build(t, small())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "lonely.html"), []byte("<p>x</p>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := check(out); err == nil || err.Error() != "lonely.html: no link leads there" {
		t.Errorf("error %v", err)
	}
}
