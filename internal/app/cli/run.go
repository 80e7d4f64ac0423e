package cli

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

	"github.com/swcaffe/swcaffe/internal/app/glog"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/topology"
)

// Main runs the command line of this process and exits.
func (cs Commands) Main() {
	e := osEnv(os.Args[0])
	e.whole = true
	topology.Exit(cs.runAs(e, os.Args[1:]))
}

// MainAs runs a command line of this process and returns the exit code. called is the path by which the program was called; its last
// element is the program's name.
func (cs Commands) MainAs(called string, args []string) int { return cs.runAs(osEnv(called), args) }

// runAs runs a command line with the environment of this process.
func (cs Commands) runAs(e *Env, args []string) int {
	writeErrorsAreErrors()
	code := cs.Run(e, args)
	glog.Close(e.Log)
	e.Pulse.hold(true)
	return code
}

// Run executes a command line and returns the exit code: 0, exitUsage after a UsageError, which is printed, or exitFailure after
// any other error, which is logged.
func (cs Commands) Run(e *Env, args []string) int {
	out := &stream{to: e.Stdout, pulse: e.Pulse}
	inner := *e
	inner.Stdout, inner.Tables, inner.commands = out, out, cs
	inner.Resume = func(state string) string { return cs.resumption(cmp.Or(e.called, "swcaffe"), args, state) }
	command, err := cs.dispatch(&inner, args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		err = out.err
	}
	if err == nil {
		return 0
	}
	if usage := (*UsageError)(nil); errors.As(err, &usage) {
		e.refuse(command, err)
		return exitUsage
	}
	e.report(err)
	return exitFailure
}

// dispatch finds the command of a command line and runs it. It returns the command's name, "" if the line has no known command.
func (cs Commands) dispatch(e *Env, args []string) (name string, err error) {
	defer pages.Catch(&err)
	name, rest, err := e.program.split(cs, args)
	if err != nil {
		return "", err
	}
	switch name {
	case "":
		return "", cs.withoutCommand(e, rest)
	case "help":
		return "", cs.help(e, rest)
	}
	c, err := cs.Find(name)
	if err != nil {
		return "", err
	}
	return name, c.run(e, rest)
}

// run reads the flags of a command and runs it.
func (c Command) run(e *Env, args []string) error {
	if e.program.command != "" && len(args) == 0 {
		commandUsage(e.Stdout, c, e.program)
		return Usagef("no arguments given")
	}
	action, flags, err := c.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		commandUsage(e.Stdout, c, e.program)
		return err
	}
	if err != nil {
		return &UsageError{err}
	}
	if done := e.inform(c, flags.common); done {
		return nil
	}
	flags.common.glog.Apply(e.Log, e.program.name)
	for _, name := range flags.common.unused {
		e.Log.Warnf("-%s has no effect: %s does not use it", name, c.Name)
	}
	if err := e.settle(c, flags.own); err != nil {
		return err
	}
	if !c.InPlace {
		e.reads = inputsOf(flags.own)
		e.reads.add(flagFile, flags.common.files...)
	}
	if err := e.direct(flags.own); err != nil {
		return err
	}
	return explainPath(action(e), flags.own, args)
}

// parsedFlags are the flags set by a command line.
type parsedFlags struct {
	own    *flag.FlagSet
	common *commonFlags
}

// parse parses a command's flags. action runs the command with them.
func (c Command) parse(args []string) (action func(*Env) error, flags parsedFlags, err error) {
	flags.own = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.own.SetOutput(io.Discard)
	action = c.Do(flags.own)
	if flags.common, err = newCommonFlags(c, flags.own); err != nil {
		return nil, flags, err
	}
	return action, flags, parseFlags(flags.own, flags.common, args, c.Words)
}

// withoutCommand handles a command line without a command.
func (cs Commands) withoutCommand(e *Env, rest []string) error {
	if len(rest) > 0 && isHelp(rest[0]) {
		cs.programUsage(e.Stdout, e.program)
		return nil
	}
	if i := slices.IndexFunc(rest, asksVersion); i >= 0 {
		return Version.run(e, slices.Delete(slices.Clone(rest), i, i+1))
	}
	if e.program.brew && len(rest) == 0 {
		cs.brewUsage(e.Stdout, e.program) // not an error, as in Caffe
		return nil
	}
	cs.programUsage(e.Stderr, e.program)
	return Usagef("no command given")
}

// inform prints the answers to -helpfull, -helpshort and -version; done reports whether one of them was given.
func (e *Env) inform(c Command, f *commonFlags) (done bool) {
	switch {
	case f.about:
		newVersionReport().print(e)
	case f.full:
		commandUsage(e.Stdout, c, e.program)
		f.print(e.Stdout)
	case f.help:
		commandUsage(e.Stdout, c, e.program)
	default:
		return false
	}
	return true
}

// prototxtFlags are the flags of commands that read prototxts. (check takes files, draw_net -in.)
var prototxtFlags = []string{"model", "solver", "file", "in"}

// explainPath adds the working directory to an error about a missing file if its relative path comes from a prototxt, not from
// the command line: no argument names this path or another one in its folder.
func explainPath(err error, flags *flag.FlagSet, args []string) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(missing.Path) || !slices.ContainsFunc(prototxtFlags, func(n string) bool { return flags.Lookup(n) != nil }) {
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
