package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// splitCommand takes the command's name out of a command line; flags may stand before it. A word after a flag that takes
// a value is that value. Of the other words without a dash, the command is the first that names one, or else the first.
func splitCommand(args []string) (name string, rest []string) {
	takesValue := valueFlags()
	first := -1
	for i := 0; i < len(args); i++ {
		if flagName, value := cutFlag(args[i]); flagName != "" {
			if value == nil && takesValue[flagName] {
				i++
			}
			continue
		}
		_, err := findCommand(args[i])
		if known := err == nil || args[i] == "help"; known || first < 0 {
			first = i
			if known {
				break
			}
		}
	}
	if first < 0 {
		return "", args
	}
	return args[first], slices.Concat(args[:first], args[first+1:])
}

// valueFlags are the flags of all commands that are followed by a value.
func valueFlags() map[string]bool {
	names := map[string]bool{}
	common, _ := newCommonFlags(command{}, nil) // the environment is judged later
	for _, g := range common.groups {
		g.flags.VisitAll(func(f *flag.Flag) { names[f.Name] = !isBool(f) })
	}
	for _, c := range commands {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(fs)
		fs.VisitAll(func(f *flag.Flag) { names[f.Name] = !isBool(f) })
	}
	return names
}

// cutFlag splits -name or --name=value; name is "" for a word that is no flag, value is nil where there is no "=".
func cutFlag(arg string) (name string, value *string) {
	name, ok := strings.CutPrefix(arg, "-")
	if !ok {
		return "", nil
	}
	name, after, found := strings.Cut(strings.TrimPrefix(name, "-"), "=")
	if found {
		value = &after
	}
	return name, value
}

// bytesPerMB is what flags count sizes in, as bandwidths are counted.
const bytesPerMB = 1e6

// isSize reports whether a flag's number of MB is one that a computer may have, or 0.
func isSize(mb float64) bool { return mb >= 0 && mb < 1e9 }

func isHelp(arg string) bool {
	name, _ := cutFlag(arg)
	return name == "h" || name == "help"
}

// parseFlags reads gflags-style flags: one dash or two, -x=v or -x v, -nox for booleans, -flagfile FILE with a flag a
// line. Words that are no flags are the values of the flags named words, in their order; more are an error.
func parseFlags(fs *flag.FlagSet, common *commonFlags, args []string, words []string) error {
	args, err := expandFlagFiles(args, 0)
	if err != nil {
		return err
	}
	if args, err = common.take(fs, args); err != nil {
		return err
	}
	for i, a := range args {
		name, value := cutFlag(a)
		if value != nil && isBool(fs.Lookup(name)) {
			if yes, err := parseBool(*value); err == nil {
				args[i] = fmt.Sprintf("-%s=%t", name, yes)
			}
		}
		if off, ok := strings.CutPrefix(name, "no"); ok && value == nil && fs.Lookup(name) == nil && isBool(fs.Lookup(off)) {
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
		if len(words) == 0 {
			return fmt.Errorf("unexpected argument %q: flags look like -name=value", args[0])
		}
		name, all := strings.CutSuffix(words[0], "...")
		if err := fs.Set(name, args[0]); err != nil {
			return explain(fs, fmt.Errorf("invalid value %q for -%s: %w", args[0], name, err))
		}
		if args = args[1:]; !all {
			words = words[1:]
		}
	}
}

func isBool(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// explain turns the flag package's message about an unknown flag into one with the nearest known name, and that about a value into one with
// what the value must be.
func explain(fs *flag.FlagSet, err error) error {
	const undefined = "flag provided but not defined: -"
	if name, ok := strings.CutPrefix(err.Error(), undefined); ok {
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		return suggest.Unknown("command line flag", name, "flags of "+fs.Name(), names)
	}
	if message, ok := strings.CutSuffix(err.Error(), ": parse error"); ok {
		name := message[strings.LastIndexByte(message, '-')+1:]
		return fmt.Errorf("%s: not %s", message, wanted(fs.Lookup(name)))
	}
	return err
}

// wanted says what the values of a flag are.
func wanted(f *flag.Flag) string {
	switch f.Value.(flag.Getter).Get().(type) {
	case bool:
		return "true or false"
	case uint, uint64:
		return "a whole number, 0 or more"
	case int, int64:
		return "a whole number"
	}
	return "a number"
}

const (
	flagFile           = "flagfile"
	fromEnvironment    = "fromenv"
	tryFromEnvironment = "tryfromenv"
	maxFlagFiles       = 10 // deep: one file may name another
)

// expandFlagFiles replaces -flagfile FILE by the flags in it, a flag a line, "-name=value" or "-name value"; blank lines
// and lines that begin with # are skipped. -fromenv NAME,... is replaced by -NAME=$FLAGS_NAME.
func expandFlagFiles(args []string, depth int) ([]string, error) {
	if depth > maxFlagFiles {
		return nil, fmt.Errorf("-%s: files name each other more than %d deep", flagFile, maxFlagFiles)
	}
	var out []string
	for i := 0; i < len(args); i++ {
		name, path := cutFlag(args[i])
		if name != flagFile && name != fromEnvironment && name != tryFromEnvironment {
			out = append(out, args[i])
			continue
		}
		if path == nil {
			if i++; i == len(args) {
				return nil, fmt.Errorf("-%s needs %s", name, map[bool]string{true: "a file", false: "names of flags"}[name == flagFile])
			}
			path = &args[i]
		}
		if name != flagFile {
			flags, err := environmentFlags(*path, name == fromEnvironment)
			if err != nil {
				return nil, err
			}
			out = append(out, flags...)
			continue
		}
		text, err := os.ReadFile(*path)
		if err != nil {
			return nil, fmt.Errorf("-%s: %w", flagFile, err)
		}
		inside, err := expandFlagFiles(flagLines(string(text)), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, inside...)
	}
	return out, nil
}

func flagLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, " ")
		if out = append(out, name); found {
			out = append(out, strings.TrimSpace(value))
		}
	}
	return out
}

// environmentFlags are the flags of a list of names with the values of environment variables FLAGS_NAME.
func environmentFlags(names string, must bool) (flags []string, err error) {
	for name := range strings.SplitSeq(names, ",") {
		value, ok := os.LookupEnv("FLAGS_" + name)
		if !ok && must {
			return nil, fmt.Errorf("-%s %s: the environment has no FLAGS_%s", fromEnvironment, names, name)
		}
		if ok {
			flags = append(flags, "-"+name+"="+value)
		}
	}
	return flags, nil
}
