// Package cli is the frame around swcaffe's commands and the parts that several of them share.
//
// A Command declares a command: name, help, flags and code. Commands, a list of them, runs a command line: it finds the command, reads flags as
// gflags does, sets up the log as glog does (internal/glog) and turns the command's error into a last log line and exit code 1. The
// binary can be called by the names of Caffe's own binaries too (program.go). A command gets an Env, which has its log and its streams.
//
// Shared by commands are:
//
//	flags    DeviceFlags, StateFlags, StrategyFlags; OutputVar for files to write
//	results  Env.WriteFile and others; Database and TemporaryFolder, which appear whole or not at all
//	terminal Progress, a bar; Pulse, a last line that shows that work goes on
//	ranks    MPI jobs, transports, the log of a rank
//
// The commands about the binary itself, version and install_links, are here as well.
package cli

import (
	"flag"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// Command declares one command: its name, its help, its flags and the function that runs it.
type Command struct {
	Name     string
	Synopsis string // one line for the list of commands
	Args     string // follows the name in the usage line
	Example  string // one command line
	Help     string // says what the command does
	// Words names the flags that words without a dash set, in order, as in "swcaffe dataset digits". A last name that ends in "..." takes
	// all words that are left.
	Words []string
	// Quiet commands show no log unless a flag of glog's asks for it, like the tools of Caffe's that they replace.
	Quiet bool
	Do    action // made by with
}

// action registers a command's flags and returns the function that runs the command with the values that they get.
type action func(fs *flag.FlagSet) func(*Env) error

// With makes an action of a command's flags and its code. Both work on options: flags registers its fields, and run reads them.
func With[O any](flags func(fs *flag.FlagSet, o *O), run func(e *Env, o *O) error) action {
	return func(fs *flag.FlagSet) func(*Env) error {
		o := new(O)
		flags(fs, o)
		return func(e *Env) error { return run(e, o) }
	}
}

// Commands is the program's commands, in the order of its help.
type Commands []Command

// Find returns a command by its name; the error for an unknown name has the nearest known one.
func (cs Commands) Find(name string) (Command, error) {
	table := suggest.Table[Command]{Kind: "command", Kinds: "commands", Name: func(c Command) string { return c.Name }, Entries: cs}
	return table.Find(name)
}

// Check returns the error that a command line would be refused with before its command runs, nil if there is none.
func (cs Commands) Check(args []string) error {
	name, rest := cs.Split(args)
	c, err := cs.Find(name)
	if err != nil {
		return err
	}
	_, _, err = c.parse(rest)
	return err
}
