package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// help runs "help": it prints the list of commands, or the help of one command.
func (cs Commands) help(e *Env, args []string) error {
	if len(args) == 0 || args[0] == "help" || isHelp(args[0]) {
		cs.programUsage(e.Stdout, e.program)
		return nil
	}
	c, err := cs.Find(args[0])
	if err == nil {
		commandUsage(e.Stdout, c, e.program)
	}
	return err
}

// programUsage lists the commands of the program, under the name by which it was called.
func (cs Commands) programUsage(w io.Writer, p program) {
	if p.brew {
		cs.brewUsage(w, p)
		return
	}
	fmt.Fprint(w, "swcaffe trains, tests and times Caffe networks on CPUs and on a modelled SW26010.\n\nusage: swcaffe COMMAND [FLAGS]\n\n")
	for _, c := range cs {
		fmt.Fprintf(w, "  %-26s %s\n", c.Name, c.Synopsis)
	}
	fmt.Fprint(w, "  help                       list commands, or 'help COMMAND' for its flags\n\nFlags take one dash or two, before or after the command: -solver=FILE, --solver FILE.\nEvery command takes glog's flags for its log too, such as -log_dir and -minloglevel: 'COMMAND -helpfull' lists them.\nNo log files are written unless these flags ask for them.\nA file to write may be -, which is standard output; logs and prototxts to format may be standard input.\n")
}

// brewUsage lists the commands of the binary caffe.
func (cs Commands) brewUsage(w io.Writer, p program) {
	fmt.Fprintf(w, "%s: Caffe's command line, by swcaffe\n\nusage: %s <command> <args>\n\ncommands:\n", p.name, p.name)
	for _, c := range cs {
		if slices.Contains(brewCommands, c.Name) {
			fmt.Fprintf(w, "  %-15s %s\n", c.Name, c.Synopsis)
		}
	}
	fmt.Fprintf(w, "\n'%s <command> -help' lists a command's flags.\n", p.name)
}

// commandUsage prints a command's help: usage line, description, example and flags.
func commandUsage(w io.Writer, c Command, p program) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(w)
	c.Do(flags)
	line := p.line(c)
	fmt.Fprintf(w, "usage: %s\n\n%s\n\nexample: %s\n", strings.TrimSpace(line+" "+c.Args), c.Help, strings.ReplaceAll(c.Example, "swcaffe "+c.Name, line))
	none := true
	flags.VisitAll(func(*flag.Flag) { none = false })
	if !none {
		fmt.Fprint(w, "\nflags:\n")
		flags.PrintDefaults()
	}
	fmt.Fprint(w, "\n-helpfull lists the flags of the log as well, which every command takes.\n")
}
