// Package cli runs swcaffe's commands and holds the code that they share.
//
// A Command is a name, help, flags and a function. Commands, a list of them, runs a command line: it finds the command, parses
// flags like gflags, sets up the log like glog (internal/app/glog), and runs the function with an Env: its log and streams. An error
// becomes the last log line and exit code 1; a UsageError becomes one plain line and exit code 2. The binary also answers to the
// names of Caffe's binaries (program.go).
//
// Commands share:
//
//	flags    DeviceFlags, StateFlags, StrategyFlags; OutputVar for files to write
//	results  Env.WriteFile and others; Database and NewTemporary, whose results appear complete or not at all
//	terminal NewProgress, a bar; Env.Pulse, a last line with the progress of work, or lines of the command's own below the log
//	ranks    MPI jobs, transports, the log of a rank
//
// What a flag takes (Takes) is declared with the flag, by StringVar. The command completion offers these values to shells.
//
// The commands about the binary itself are here: version, install_links, completion and man.
package cli

import (
	"flag"
)

// Command declares one command: its name, its help, its flags and the function that runs it.
type Command struct {
	Name     string
	Group    string // what people want with it: the heading in the list of commands; set by Group
	Synopsis string // one line for the list of commands
	Args     string // follows the name in the usage line
	Example  string // one command line
	Help     string // describes the command
	// Words names the flags that arguments without a dash set, in order, as in "swcaffe dataset digits". If the last name ends in
	// "...", it takes all remaining arguments; the names before it may be left out where its flag's Takes claims an argument.
	Words []string
	// Writes names the flag for the file or folder that the command makes; "": -out or -o, if it has one. -o and -out are further names of it.
	Writes string
	// Quiet commands show no log unless one of glog's flags asks for it, like the tools of Caffe that they replace.
	Quiet bool
	// Prints: the command writes no files, so that several processes can run it at once under any launcher.
	Prints bool
	// InPlace: the command may write to the file that it reads.
	InPlace bool
	// Joins: several processes that a launcher has started with MPI do the command's work together.
	Joins bool
	Do    action // made by With
}

// action registers a command's flags and returns the function that runs the command with the flags' values.
type action func(fs *flag.FlagSet) func(*Env) error

// With makes an action from two functions over the same options O: flags registers O's fields as flags, and run reads them.
func With[O any](flags func(fs *flag.FlagSet, o *O), run func(e *Env, o *O) error) action {
	return func(fs *flag.FlagSet) func(*Env) error {
		o := new(O)
		flags(fs, o)
		return func(e *Env) error { return run(e, o) }
	}
}

// outputNames are names of the flag for what a command makes, in every command that has such a flag.
var outputNames = []string{"out", "o"}

// output returns the name under which a command's flag for what it makes is registered, "" if it has none.
func (c Command) output(own *flag.FlagSet) string {
	for _, name := range append([]string{c.Writes}, outputNames...) {
		if own.Lookup(name) != nil {
			return name
		}
	}
	return ""
}

// Commands is the list of the program's commands, in the order of its help. Commands of one group are neighbours.
type Commands []Command

// Group puts commands under a heading of the help.
func Group(title string, list ...Command) Commands {
	for i := range list {
		list[i].Group = title
	}
	return list
}

// Find returns a command by its name. For an unknown name, the UsageError suggests the nearest known one.
func (cs Commands) Find(name string) (Command, error) {
	var names []string
	for _, c := range cs {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Command{}, Usagef("unknown command %q%s", name, meant(name, names, "%q"))
}

// Check returns the error that would refuse a command line before its command runs, or nil.
func (cs Commands) Check(args []string) error {
	name, rest := cs.Split(args)
	c, err := cs.Find(name)
	if err != nil {
		return err
	}
	_, _, err = c.parse(rest)
	return err
}
