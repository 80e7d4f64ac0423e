// Site makes a static site of the repository's Markdown files and of the commands' help. Run it by scripts/site.sh:
//
//	go run . -root ../.. -program ../../build/swcaffe -out ../../build/site
//
// A page is at the path of its source: docs/solver.md becomes docs/solver.html, README.md index.html, and the help of train commands/train.html. The site
// works from a folder, by file:// too: the text of all pages, which the search reads, is a script. A link that leads nowhere, and a page to which
// no link leads, are errors.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the `FOLDER` of the repository")
	program := flag.String("program", "", "the `FILE` of swcaffe's program, whose help is shown")
	out := flag.String("out", "", "the `FOLDER` to make")
	flag.Parse()
	err := run(*root, *program, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, program, out string) error {
	sources, err := tracked(root)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	s := &site{root: root, out: out}
	for _, name := range sources {
		if err := s.read(name); err != nil {
			return err
		}
	}
	if err := s.commands(func(args ...string) (string, error) {
		text, err := exec.Command(path, args...).CombinedOutput()
		return string(text), err
	}); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	if err := check(out); err != nil {
		return err
	}
	fmt.Printf("%s: %d pages and %d other files; all links lead somewhere\n", filepath.Join(out, "index.html"), len(s.pages), len(s.files))
	return nil
}

// tracked returns the Markdown files that git knows, but for those of GitHub's forms.
func tracked(root string) ([]string, error) {
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--", "*.md").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, nil
}
