package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
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

const programSummary = "swcaffe trains, tests and times Caffe networks on CPUs and on a modelled SW26010."

// generalHelp is about the flags of all commands.
const generalHelp = `Flags take one dash or two, before or after the command: -solver=FILE, --solver FILE.
Every command takes glog's flags for its log too, such as -log_dir and -minloglevel: 'COMMAND -helpfull' lists them.
No log files are written unless these flags ask for them.
What a command makes is named by -o or -out, whatever its help calls the flag.
A file to write may be -, which is standard output; logs and prototxts to format may be standard input.`

// programUsage lists the commands of the program, under the name by which it was called.
func (cs Commands) programUsage(w io.Writer, p program) {
	if p.brew {
		cs.brewUsage(w, p)
		return
	}
	fmt.Fprintf(w, "%s\n\nusage: swcaffe COMMAND [FLAGS]\n", programSummary)
	group := ""
	for _, c := range cs {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(w, "\n%s:\n", group)
		}
		fmt.Fprintf(w, "  %-26s %s\n", c.Name, c.Synopsis)
	}
	fmt.Fprintf(w, "  %-26s %s\n\n%s\n", "help", "list commands, or 'help COMMAND' for its flags", generalHelp)
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
	flags := c.own()
	line := p.line(c)
	fmt.Fprintf(w, "usage: %s\n\n%s\n\nexample: %s\n", strings.TrimSpace(line+" "+c.Args), c.Help, strings.ReplaceAll(c.Example, "swcaffe "+c.Name, line))
	if list := c.describe(flags); len(list) > 0 {
		fmt.Fprint(w, "\nflags:\n")
		printFlags(w, list)
	}
	fmt.Fprint(w, "\n-helpfull lists the flags of the log as well, which every command takes.\n")
}

// flagText is what help says about a flag.
type flagText struct {
	name, value, usage string
	standard           string // the value without the flag; "": none worth saying
}

// describe returns the texts of a command's own flags.
func (c Command) describe(own *flag.FlagSet) []flagText {
	list, output := describe(own), c.output(own)
	for i := range list {
		if list[i].name == output {
			others := slices.DeleteFunc(slices.Clone(outputNames), func(n string) bool { return n == output })
			list[i].usage += " (also -" + strings.Join(others, ", -") + ")"
		}
	}
	return list
}

// describe returns the texts of flags, in the order of their names.
func describe(fs *flag.FlagSet) (list []flagText) {
	fs.VisitAll(func(f *flag.Flag) {
		d := flagText{name: f.Name, standard: f.DefValue}
		d.value, d.usage = flag.UnquoteUsage(f)
		getter, _ := f.Value.(flag.Getter)
		isText := false
		if getter != nil {
			_, isText = getter.Get().(string)
		}
		switch {
		case slices.Contains([]string{"", "0", "false"}, f.DefValue):
			d.standard = ""
		case isText:
			d.standard = strconv.Quote(f.DefValue)
		}
		if isText && d.value == "value" {
			d.value = "string"
		}
		list = append(list, d)
	})
	return list
}

// printFlags lists flags, each with its help in the next line.
func printFlags(w io.Writer, list []flagText) {
	for _, d := range list {
		fmt.Fprintf(w, "%s\n    \t%s", strings.TrimRight("  -"+d.name+" "+d.value, " "), d.usage)
		if d.standard != "" {
			fmt.Fprintf(w, " (default %s)", d.standard)
		}
		fmt.Fprintln(w)
	}
}
