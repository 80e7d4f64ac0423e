package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/pages"
)

// main runs the command line of this process and exits.
func (cs commandList) main() {
	writeErrorsAreErrors()
	e := osEnv()
	code := cs.run(e, os.Args[1:])
	sinkOf(e.log).close()
	e.pulse.hold(true)
	os.Exit(code)
}

// run executes a command line and returns the exit code: 0, or 1 after an error, which is logged.
func (cs commandList) run(e *env, args []string) int {
	out := &stream{to: e.stdout, pulse: e.pulse}
	inner := *e
	inner.stdout, inner.tables = out, out
	inner.resume = func(state string) string { return cs.resumption(cmp.Or(e.called, "swcaffe"), args, state) }
	err := cs.dispatch(&inner, args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		err = out.err
	}
	if err == nil {
		return 0
	}
	if sink := sinkOf(e.log); sink != nil {
		sink.last = true
	}
	for line := range strings.SplitSeq(e.program.own(err.Error()), "\n") {
		e.log.Error(line)
	}
	return 1
}

// dispatch finds the command of a command line, reads its flags and runs it.
func (cs commandList) dispatch(e *env, args []string) (err error) {
	defer pages.Catch(&err)
	name, rest, err := e.program.split(cs, args)
	if err != nil {
		return err
	}
	switch name {
	case "":
		return cs.withoutCommand(e, rest)
	case "help":
		return cs.help(e, rest)
	}
	c, err := cs.find(name)
	if err != nil {
		return err
	}
	if e.program.command != "" && len(args) == 0 {
		commandUsage(e.stdout, c, e.program)
		return errors.New("no arguments given")
	}
	action, flags, err := c.parse(rest)
	if errors.Is(err, flag.ErrHelp) {
		commandUsage(e.stdout, c, e.program)
	}
	if err != nil {
		return err
	}
	if done := e.inform(c, flags.common); done {
		return nil
	}
	flags.common.glog.apply(e.log, e.program.name)
	for _, name := range flags.common.unused {
		e.log.Warnf("-%s has no effect: %s does not use it", name, c.name)
	}
	if err := e.direct(flags.own); err != nil {
		return err
	}
	return explainPath(action(e), flags.own, rest)
}

// parsedFlags are the flags that a command line has set.
type parsedFlags struct {
	own    *flag.FlagSet
	common *commonFlags
}

// parse reads a command's flags; action runs the command with them.
func (c command) parse(args []string) (action func(*env) error, flags parsedFlags, err error) {
	flags.own = flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.own.SetOutput(io.Discard)
	action = c.do(flags.own)
	if flags.common, err = newCommonFlags(c, flags.own); err != nil {
		return nil, flags, err
	}
	return action, flags, parseFlags(flags.own, flags.common, args, c.words)
}

// withoutCommand answers a command line that names no command.
func (cs commandList) withoutCommand(e *env, rest []string) error {
	if len(rest) > 0 && isHelp(rest[0]) {
		cs.programUsage(e.stdout, e.program)
		return nil
	}
	if len(rest) == 1 && strings.TrimLeft(rest[0], "-") == versionCommand.name {
		printVersion(e.stdout)
		return nil
	}
	if e.program.brew && len(rest) == 0 {
		cs.brewUsage(e.stdout, e.program) // without an error, as Caffe
		return nil
	}
	cs.programUsage(e.stderr, e.program)
	return errors.New("no command given")
}

// inform prints what -helpfull, -helpshort and -version ask for; done reports whether one of them was given.
func (e *env) inform(c command, f *commonFlags) (done bool) {
	switch {
	case f.about:
		printVersion(e.stdout)
	case f.full:
		commandUsage(e.stdout, c, e.program)
		f.print(e.stdout)
	case f.help:
		commandUsage(e.stdout, c, e.program)
	default:
		return false
	}
	return true
}

// explainPath completes an error about a missing file with the working directory, if the file's relative path comes from a prototxt: then no
// argument names that path or another one in its folder.
func explainPath(err error, flags *flag.FlagSet, args []string) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(missing.Path) || flags.Lookup("model") == nil && flags.Lookup("solver") == nil {
		return err
	}
	dir := filepath.Dir(missing.Path)
	for _, a := range args {
		_, value := cutFlag(a)
		if value == nil {
			value = &a
		}
		if slices.Contains(strings.Split(*value, ","), missing.Path) || dir != "." && filepath.Dir(*value) == dir {
			return err
		}
	}
	from, unknown := os.Getwd()
	if unknown != nil {
		return err
	}
	return fmt.Errorf("%w (relative paths begin at the working directory, %s)", err, from)
}
