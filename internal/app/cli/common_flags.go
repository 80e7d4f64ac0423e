package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// commonFlags are the flags that every command accepts beside its own: glog's and gflags'. The commands of Caffe's binary caffe
// also accept each other's flags.
type commonFlags struct {
	glog              glog.Flags
	help, full, about bool
	undefined         string   // -undefok
	unused            []string // given flags of other commands
	files             []string // of -flagfile

	groups []flagGroup
	output string // the command's flag that outputNames stand for, "" if it has none
}

type flagGroup struct {
	title string
	flags *flag.FlagSet
}

// newCommonFlags returns the common flags of a command, with defaults from the environment.
func newCommonFlags(c Command, own *flag.FlagSet) (*commonFlags, error) {
	f := &commonFlags{}
	if own != nil {
		f.output = c.output(own)
	}
	group := func(title string) *flag.FlagSet {
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		f.groups = append(f.groups, flagGroup{title, fs})
		return fs
	}
	log := group("flags of the log, as glog's; environment variables GLOG_NAME set their defaults")
	f.glog.Register(log, c.Quiet)
	reading := group("flags about flags, as gflags'")
	reading.String(flagFile, "", "read flags from `FILE`, a flag a line")
	reading.String(fromEnvironment, "", "set the flags `NAME,...` from environment variables FLAGS_NAME")
	reading.String(tryFromEnvironment, "", "the same for those variables that are set")
	reading.StringVar(&f.undefined, "undefok", "", "accept the flags `NAME,...` even where there are none")
	reading.BoolVar(&f.help, "helpshort", false, "show the command's own flags, as -help")
	reading.BoolVar(&f.full, "helpfull", false, "show all flags")
	reading.BoolVar(&f.about, "version", false, "show the version")
	if isBrew(c.Name) {
		f.registerBrew(c, own, group("flags of caffe's other commands, accepted without effect"))
	}
	return f, f.glog.ReadEnvironment(log, os.LookupEnv)
}

// brewCommands are the commands of the binary caffe. It has one list of flags for all of them.
var brewCommands = []string{"train", "test", "device_query", "time"}

func isBrew(name string) bool { return slices.Contains(brewCommands, name) }

// registerBrew registers the flags of the binary caffe that a command does not have itself.
func (f *commonFlags) registerBrew(c Command, own, fs *flag.FlagSet) {
	text := func(string) error { return nil }
	number := func(s string) error {
		if _, err := strconv.ParseInt(s, 0, 32); err != nil {
			return errors.New("not a whole number")
		}
		return nil
	}
	for _, l := range []struct {
		name, usage string
		check       func(string) error
	}{
		{"gpu", "of train, test and time", text}, {"solver", "of train", text}, {"model", "of test and time", text}, {"phase", "of time", text},
		{"level", "of train, test and time", number}, {"stage", "of train, test and time", text}, {"snapshot", "of train", text},
		{"weights", "of train and test", text}, {"iterations", "of test and time", number},
		{"sigint_effect", "of train", text}, {"sighup_effect", "of train", text},
	} {
		if own.Lookup(l.name) == nil {
			fs.Var(&glog.Value{Parse: l.check, Given: func() { f.unused = append(f.unused, l.name) }}, l.name, l.usage)
		}
	}
}

// names lists the names of the flags.
func (f *commonFlags) names() (list []string) {
	for _, g := range f.groups {
		list = append(list, names(g.flags)...)
	}
	return list
}

// lookup finds a common flag by name.
func (f *commonFlags) lookup(name string) *flag.Flag {
	for _, g := range f.groups {
		if found := g.flags.Lookup(name); found != nil {
			return found
		}
	}
	return nil
}

// take sets the common flags of a command line and returns the other arguments.
func (f *commonFlags) take(own *flag.FlagSet, args []string) (rest []string, err error) {
	var unknown []int // indices in rest of unknown flags
	for i := 0; i < len(args); i++ {
		name, value := cutFlag(args[i])
		if f.output != "" && slices.Contains(outputNames, name) && own.Lookup(name) == nil {
			args[i], name = strings.Replace(args[i], name, f.output, 1), f.output
		}
		mine := own.Lookup(name)
		if name == "" || mine != nil || isHelp(args[i]) || glog.IsBool(own.Lookup(strings.TrimPrefix(name, "no"))) {
			rest = append(rest, args[i])
			if mine != nil && !glog.IsBool(mine) && value == nil && i+1 < len(args) {
				i++
				rest = append(rest, args[i])
			}
			continue
		}
		found := f.lookup(name)
		if off := f.lookup(strings.TrimPrefix(name, "no")); found == nil && glog.IsBool(off) && value == nil {
			no := "false"
			found, value = off, &no
		}
		switch {
		case found == nil:
			unknown = append(unknown, len(rest))
			rest = append(rest, args[i])
			continue
		case value == nil && glog.IsBool(found):
			yes := "true"
			value = &yes
		case value == nil && i+1 == len(args):
			return nil, needsValue(name)
		case value == nil:
			i++
			value = &args[i]
		}
		if err := found.Value.Set(*value); err != nil {
			return nil, fmt.Errorf("invalid value %q for flag -%s: %w", *value, name, err)
		}
	}
	return f.drop(rest, unknown), nil
}

// drop removes the unknown flags that -undefok permits.
func (f *commonFlags) drop(args []string, unknown []int) []string {
	allowed := strings.Split(f.undefined, ",")
	for _, i := range slices.Backward(unknown) {
		name, _ := cutFlag(args[i])
		if slices.Contains(allowed, name) || slices.Contains(allowed, strings.TrimPrefix(name, "no")) {
			args = slices.Delete(args, i, i+1)
		}
	}
	return args
}

// print lists the flags for help.
func (f *commonFlags) print(w io.Writer) {
	for _, g := range f.groups {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		printFlags(w, describe(g.flags))
	}
}
