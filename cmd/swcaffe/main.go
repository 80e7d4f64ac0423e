// Command swcaffe trains, tests and times Caffe networks on this computer's cores and on a model of the Sunway SW26010.
//
// Each command is a file of its own with a command value; main.go lists them, flags.go reads flags as Caffe's tools do,
// glog.go prints the log in glog's shape.
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
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/suggest"
)

// command is one of swcaffe's commands.
type command struct {
	name    string
	summary string // one line
	args    string // what follows the name in the usage line
	example string // one command line
	long    string // what it does, for help
	// words are the flags that words without a dash set, in their order, as in "swcaffe dataset digits". The last one takes all
	// that follow if it ends in "...".
	words []string
	// quiet commands show no log unless a flag of glog's asks for it, as the tool of Caffe's whose place they take.
	quiet bool
	// setup registers the command's flags and returns what runs it once they are read.
	setup func(fs *flag.FlagSet) func(*env) error
}

// env is what a command writes to.
type env struct {
	log            *logrus.Logger
	stdout, stderr io.Writer
	// tables is where figures are printed for people to read: stdout, or nowhere if a file is written to stdout.
	tables io.Writer

	program program                   // what the binary was called as
	called  string                    // by which path
	resume  func(state string) string // the command line that goes on from a solver state
	pulse   *pulse                    // of the terminal that stderr is; nil if it is none
}

// commands in the order in which help lists them.
var commands = []command{
	trainCommand, testCommand, timeCommand, exploreCommand, deviceQueryCommand, bandwidthCommand, verifyCommand, allreduceCommand, scaleCommand, datasetCommand,
	convertImagesetCommand, computeImageMeanCommand, extractFeaturesCommand,
	upgradeNetTextCommand, upgradeNetBinaryCommand, upgradeSolverTextCommand,
	convertMnistCommand, convertCifarCommand, convertMnistSiameseCommand,
	classifyCommand, parseLogCommand, plotLogCommand, drawNetCommand, fmtCommand, installLinksCommand, versionCommand,
}

func main() {
	writeErrorsAreErrors()
	e := &env{stdout: os.Stdout, stderr: os.Stderr, program: programNamed(os.Args[0]), called: os.Args[0], pulse: newPulse(os.Stderr)}
	if e.pulse != nil {
		e.stderr = e.pulse
	}
	e.log = newLogger(e.stderr)
	code := run(e, os.Args[1:])
	sinkOf(e.log).close()
	e.pulse.hold(true)
	os.Exit(code)
}

// stream passes on what is written to it and keeps the first error, so that commands print tables without looking for errors at
// every line, and a full disk is still one. If the reader of the stream has gone away nobody wants the rest: the process ends as if by SIGPIPE.
type stream struct {
	to    io.Writer
	err   error
	pulse *pulse // of a terminal, which may be where the stream goes too
}

func (s *stream) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.pulse.printed()
	n, err := s.to.Write(b)
	s.err = err
	if errors.Is(err, syscall.EPIPE) {
		endBy(brokenPipe)
	}
	return n, err
}

// run executes a command line and returns the exit code: 0, or 1 after an error.
func run(e *env, args []string) int {
	out := &stream{to: e.stdout, pulse: e.pulse}
	inner := *e
	inner.stdout, inner.tables = out, out
	inner.resume = func(state string) string { return resumption(cmp.Or(e.called, "swcaffe"), args, state) }
	err := dispatch(&inner, args)
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

func dispatch(e *env, args []string) (err error) {
	defer pages.Catch(&err)
	name, rest, err := e.program.split(args)
	if err != nil {
		return err
	}
	switch name {
	case "":
		return e.withoutCommand(rest)
	case "help":
		return help(e, rest)
	}
	c, err := findCommand(name)
	if err != nil {
		return err
	}
	if e.program.command != "" && len(args) == 0 {
		commandUsage(e.stdout, c, e.program)
		return errors.New("no arguments given")
	}
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	action := c.setup(flags)
	common, err := newCommonFlags(c, flags)
	if err != nil {
		return err
	}
	if err := parseFlags(flags, common, rest, c.words); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			commandUsage(e.stdout, c, e.program)
		}
		return err
	}
	if done := e.inform(c, common); done {
		return nil
	}
	common.glog.apply(e.log, e.program.name)
	for _, name := range common.unused {
		e.log.Warnf("-%s has no effect: %s does not use it", name, c.name)
	}
	if err := e.direct(flags); err != nil {
		return err
	}
	return explainPath(action(e), flags, rest)
}

// withoutCommand answers a command line that names no command.
func (e *env) withoutCommand(rest []string) error {
	if len(rest) > 0 && isHelp(rest[0]) {
		programUsage(e.stdout, e.program)
		return nil
	}
	if len(rest) == 1 && strings.TrimLeft(rest[0], "-") == versionCommand.name {
		printVersion(e.stdout)
		return nil
	}
	if e.program.brew && len(rest) == 0 {
		brewUsage(e.stdout, e.program) // without an error, as Caffe
		return nil
	}
	programUsage(e.stderr, e.program)
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

// explainPath adds to an error about a file that is not there from where it was looked for, if its relative path stands in a prototxt: no
// argument is that path, or one of the same folder.
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

func findCommand(name string) (command, error) {
	table := suggest.Table[command]{Kind: "command", Kinds: "commands", Name: func(c command) string { return c.name }, Entries: commands}
	return table.Find(name)
}

// help prints the list of commands, or one command's flags.
func help(e *env, args []string) error {
	if len(args) == 0 || args[0] == "help" || isHelp(args[0]) {
		programUsage(e.stdout, e.program)
		return nil
	}
	c, err := findCommand(args[0])
	if err == nil {
		commandUsage(e.stdout, c, e.program)
	}
	return err
}

func programUsage(w io.Writer, p program) {
	if p.brew {
		brewUsage(w, p)
		return
	}
	usage(w)
}

func usage(w io.Writer) {
	fmt.Fprint(w, "swcaffe trains, tests and times Caffe networks on CPUs and on a modelled SW26010.\n\nusage: swcaffe COMMAND [FLAGS]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-26s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "  help                       list commands, or 'help COMMAND' for its flags\n\nFlags take one dash or two, before or after the command: -solver=FILE, --solver FILE.\nEvery command takes glog's flags for its log too, such as -log_dir and -minloglevel: 'COMMAND -helpfull' lists them.\nNo log files are written unless these flags ask for them.\nA file to write may be -, which is standard output; logs and prototxts to format may be standard input.\n")
}

func commandUsage(w io.Writer, c command, p program) {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(w)
	c.setup(flags)
	line := p.line(c)
	fmt.Fprintf(w, "usage: %s\n\n%s\n\nexample: %s\n", strings.TrimSpace(line+" "+c.args), c.long, strings.ReplaceAll(c.example, "swcaffe "+c.name, line))
	none := true
	flags.VisitAll(func(*flag.Flag) { none = false })
	if !none {
		fmt.Fprint(w, "\nflags:\n")
		flags.PrintDefaults()
	}
	fmt.Fprint(w, "\n-helpfull lists the flags of the log as well, which every command takes.\n")
}
