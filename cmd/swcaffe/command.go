package main

import (
	"flag"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// command declares one command: its name, its help, its flags and the function that runs it.
type command struct {
	name    string
	summary string // one line for the list of commands
	args    string // follows the name in the usage line
	example string // one command line
	long    string // says what the command does
	// words names the flags that words without a dash set, in order, as in "swcaffe dataset digits". A last name that ends in "..." takes
	// all words that are left.
	words []string
	// quiet commands show no log unless a flag of glog's asks for it, like the tools of Caffe's that they replace.
	quiet bool
	do    action // made by with
}

// action registers a command's flags and returns the function that runs the command with the values that they get.
type action func(fs *flag.FlagSet) func(*env) error

// with makes an action of a command's flags and its code. Both work on options: flags registers its fields, and run reads them.
func with[O any](flags func(fs *flag.FlagSet, o *O), run func(e *env, o *O) error) action {
	return func(fs *flag.FlagSet) func(*env) error {
		o := new(O)
		flags(fs, o)
		return func(e *env) error { return run(e, o) }
	}
}

// commandList is the program's commands, in the order of its help.
type commandList []command

// find returns a command by its name; the error for an unknown name has the nearest known one.
func (cs commandList) find(name string) (command, error) {
	table := suggest.Table[command]{Kind: "command", Kinds: "commands", Name: func(c command) string { return c.name }, Entries: cs}
	return table.Find(name)
}

// check returns the error that a command line would be refused with before its command runs, nil if there is none.
func (cs commandList) check(args []string) error {
	name, rest := cs.split(args)
	c, err := cs.find(name)
	if err != nil {
		return err
	}
	_, _, err = c.parse(rest)
	return err
}
