package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// splitCommand takes the command's name out of a command line; flags may stand before it. A flag in front of it that has
// its value as a word of its own, not after "=", is recognised by the word after it: the command is the first word that
// names one, or else the first that is no flag.
func splitCommand(args []string) (name string, rest []string) {
	first := -1
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if first < 0 {
			first = i
		}
		if _, err := findCommand(a); err == nil || a == "help" {
			first = i
			break
		}
	}
	if first < 0 {
		return "", args
	}
	return args[first], append(append([]string(nil), args[:first]...), args[first+1:]...)
}

func isHelp(arg string) bool {
	switch strings.TrimLeft(arg, "-") {
	case "h", "help":
		return true
	}
	return false
}

// parseFlags reads gflags-style flags: one dash or two, -x=v or -x v, -nox for booleans, -flagfile FILE with a flag a
// line. A word that is no flag is the value of the flag named word, or an error if that is "".
func parseFlags(fs *flag.FlagSet, args []string, word string) error {
	args, err := expandFlagFiles(args)
	if err != nil {
		return err
	}
	for i, a := range args {
		name := strings.TrimLeft(a, "-")
		if off, ok := strings.CutPrefix(name, "no"); ok && a != name && fs.Lookup(name) == nil && isBool(fs.Lookup(off)) {
			args[i] = "-" + off + "=false"
		}
	}
	for {
		if err := fs.Parse(args); err != nil {
			return explain(fs, err)
		}
		if args = fs.Args(); len(args) == 0 {
			return nil
		}
		if word == "" {
			return fmt.Errorf("unexpected argument %q: flags look like -name=value", args[0])
		}
		if err := fs.Set(word, args[0]); err != nil {
			return fmt.Errorf("%q: %w", args[0], err)
		}
		args, word = args[1:], ""
	}
}

func isBool(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// explain turns the flag package's message about an unknown flag into one with the nearest known name.
func explain(fs *flag.FlagSet, err error) error {
	const undefined = "flag provided but not defined: -"
	if name, ok := strings.CutPrefix(err.Error(), undefined); ok {
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("unknown command line flag %q%s (flags of %s: %s)", name, suggest.DidYouMean(name, names), fs.Name(), suggest.List(names))
	}
	return err
}

// expandFlagFiles replaces -flagfile FILE by the flags in it; blank lines and lines from # on are skipped.
func expandFlagFiles(args []string) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		name, path, inline := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if name != "flagfile" || !strings.HasPrefix(args[i], "-") {
			out = append(out, args[i])
			continue
		}
		if !inline {
			if i++; i == len(args) {
				return nil, errors.New("-flagfile needs a file")
			}
			path = args[i]
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("-flagfile: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
	}
	return out, nil
}
