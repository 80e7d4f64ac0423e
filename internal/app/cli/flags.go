package cli

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/glog"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Split extracts the command's name from a command line. Flags may precede the name. A word after a flag with a value is that
// value. Of the remaining words without a dash, the first that names a command is the command; if none does, it is the first
// word.
func (cs Commands) Split(args []string) (name string, rest []string) {
	takesValue := cs.valueFlags()
	first := -1
	for i := 0; i < len(args); i++ {
		if flagName, value := cutFlag(args[i]); flagName != "" {
			if value == nil && takesValue[flagName] {
				i++
			}
			continue
		}
		_, err := cs.Find(args[i])
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

// valueFlags maps the flags of all commands: true if a value follows the flag, false for booleans.
func (cs Commands) valueFlags() map[string]bool {
	names := map[string]bool{}
	common, _ := newCommonFlags(Command{}, nil) // errors in the environment are reported later
	for _, g := range common.groups {
		g.flags.VisitAll(func(f *flag.Flag) { names[f.Name] = !glog.IsBool(f) })
	}
	for _, c := range cs {
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		c.Do(fs)
		fs.VisitAll(func(f *flag.Flag) { names[f.Name] = !glog.IsBool(f) })
	}
	return names
}

// cutFlag splits -name or --name=value. name is "" for a word that is no flag; value is nil without "=".
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

func isHelp(arg string) bool {
	name, _ := cutFlag(arg)
	return name == "h" || name == "help"
}

// parseFlags parses gflags-style flags: one dash or two, -x=v or -x v, -nox for booleans, -flagfile FILE with one flag a line.
// Words without a dash set those flags listed in words that are not given with a dash, in order; more of them are an error.
func parseFlags(fs *flag.FlagSet, common *commonFlags, args []string, words []string) error {
	args, files, err := expandFlagFiles(args, 0)
	common.files = files
	if err != nil {
		return err
	}
	if args, err = common.take(fs, args); err != nil {
		return err
	}
	for i, a := range args {
		name, value := cutFlag(a)
		if value != nil && glog.IsBool(fs.Lookup(name)) {
			if yes, err := glog.ParseBool(*value); err == nil {
				args[i] = fmt.Sprintf("-%s=%t", name, yes)
			}
		}
		if off, ok := strings.CutPrefix(name, "no"); ok && value == nil && fs.Lookup(name) == nil && glog.IsBool(fs.Lookup(off)) {
			args[i] = "-" + off + "=false"
		}
	}
	var given []string
	for {
		if err := fs.Parse(args); err != nil {
			return explain(fs, common, err)
		}
		if args = fs.Args(); len(args) == 0 {
			if err := setWords(fs, common, given, words); err != nil {
				return err
			}
			return checkNumbers(fs)
		}
		given, args = append(given, args[0]), args[1:]
	}
}

// checkNumbers returns an error if the number of a flag is not finite: no flag has a use for NaN or infinity.
func checkNumbers(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if get, ok := f.Value.(flag.Getter); ok {
			if v, ok := get.Get().(float64); ok && (math.IsNaN(v) || math.IsInf(v, 0)) && err == nil {
				err = fmt.Errorf("invalid value %q for flag -%s: not a finite number", f.Value, f.Name)
			}
		}
	})
	return err
}

// setWords sets the flags named by words, in order, to what was given without a flag. It passes over flags that have been set, except one
// that takes all remaining words. A word that this last one claims, and the one whose turn it is does not, begins the remaining words.
func setWords(fs *flag.FlagSet, common *commonFlags, given, words []string) error {
	fs.Visit(func(f *flag.Flag) {
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == f.Name })
	})
	for _, word := range given {
		if len(words) == 0 {
			return fmt.Errorf("unexpected argument %q%s", word, flagFor(fs, word))
		}
		claims := func(flag string) bool { return takenBy(fs.Lookup(flag)).claims(word) }
		if last, many := strings.CutSuffix(words[len(words)-1], "..."); many && len(words) > 1 && claims(last) && !claims(words[0]) {
			words = words[len(words)-1:]
		}
		name, all := strings.CutSuffix(words[0], "...")
		if err := fs.Set(name, word); err != nil {
			return explain(fs, common, fmt.Errorf("invalid value %q for -%s: %w", word, name, err))
		}
		if !all {
			words = words[1:]
		}
	}
	return nil
}

// flagFor returns a hint at the flag that a word without a flag is meant for: one for files of its ending.
func flagFor(fs *flag.FlagSet, word string) string {
	hint := ": flags look like -name=value"
	fs.VisitAll(func(f *flag.Flag) {
		ends := func(ending string) bool { return ending != "" && strings.HasSuffix(word, ending) }
		if t := takenBy(f); t.values == nil && f.Value.String() == "" && slices.ContainsFunc(t.endings, ends) {
			hint = fmt.Sprintf("; did you mean -%s %s?", f.Name, word)
		}
	})
	return hint
}

// explain improves messages of the flag package. An unknown flag gets the nearest known name, and a bad value gets a description
// of valid values.
func explain(fs *flag.FlagSet, common *commonFlags, err error) error {
	const undefined, alone = "flag provided but not defined: -", "flag needs an argument: -"
	if name, ok := strings.CutPrefix(err.Error(), undefined); ok {
		if fields := (*caffepb.SolverParameter)(nil).ProtoReflect().Descriptor().Fields(); fs.Lookup("solver") != nil && fields.ByName(protoreflect.Name(name)) != nil {
			return fmt.Errorf("unknown flag -%s: it is a field of the solver's file", name)
		}
		return fmt.Errorf("unknown flag -%s%s", name, meant(name, append(names(fs), common.names()...), "-%s"))
	}
	if name, ok := strings.CutPrefix(err.Error(), alone); ok {
		return needsValue(name)
	}
	if message, ok := strings.CutSuffix(err.Error(), ": parse error"); ok {
		name := message[strings.LastIndexByte(message, '-')+1:]
		return fmt.Errorf("%s: not %s", message, wanted(fs.Lookup(name)))
	}
	return err
}

// meant returns `; did you mean X?` with the known name nearest to a flag's or command's name, in a format, or "" if none is near.
func meant(name string, known []string, format string) string {
	if best := suggest.Nearest(name, known); best != "" {
		return fmt.Sprintf("; did you mean "+format+"?", best)
	}
	return ""
}

// needsValue returns the error for a flag at the end of the command line that needs a value.
func needsValue(name string) error { return fmt.Errorf("flag -%s needs a value", name) }

// names lists the names of flags.
func names(fs *flag.FlagSet) (list []string) {
	fs.VisitAll(func(f *flag.Flag) { list = append(list, f.Name) })
	return list
}

// wanted describes the valid values of a flag.
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
