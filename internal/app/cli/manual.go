package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/manpage"
	"github.com/swcaffe/swcaffe/internal/base/version"
)

// Manual is the command man.
var Manual = Command{
	Name:     "man",
	Synopsis: "write manual pages for man(1)",
	Args:     "DIR",
	Example:  "swcaffe man man/man1",
	Words:    []string{"dir"},
	Writes:   "dir",
	Help: `Writes a manual page for each command, swcaffe-COMMAND.1, and swcaffe.1 with a list of them. DIR is created if it does not exist.
In a folder man1 of man's path, as ~/.local/share/man/man1, "man swcaffe-train" finds them; "man -l DIR/swcaffe-train.1" shows one anywhere.`,
	Do: With(func(fs *flag.FlagSet, o *manualOptions) {
		StringVar(fs, &o.dir, "dir", "", "the `DIR` for the pages", Folder)
	}, writeManual),
}

type manualOptions struct{ dir string }

func writeManual(e *Env, o *manualOptions) error {
	if o.dir == "" {
		return Usagef("need a folder: swcaffe man DIR")
	}
	if err := CheckFolder(o.dir, "the set of pages"); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	pages := map[string]*manpage.Page{"swcaffe": e.commands.overview()}
	for _, c := range e.commands {
		pages[pageName(c)] = c.page()
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(o.dir, name+".1"), page.Bytes(), 0o644); err != nil {
			return err
		}
	}
	e.Log.Infof("Wrote %d pages to %s", len(pages), o.dir)
	return nil
}

func pageName(c Command) string { return "swcaffe-" + c.Name }

// newPage begins a page with its names and its usage.
func newPage(name, synopsis, usage string) *manpage.Page {
	p := manpage.New(name, "swcaffe "+version.Read().Version)
	p.Section("Name")
	p.Line(name + " - " + synopsis)
	p.Section("Synopsis")
	p.Line(usage)
	return p
}

// overview is the page of the program.
func (cs Commands) overview() *manpage.Page {
	p := newPage("swcaffe", "train, test and time Caffe networks", "swcaffe COMMAND [FLAGS]")
	p.Section("Description")
	p.Text(programSummary + "\n\n" + generalHelp)
	p.Section("Commands")
	group := ""
	for _, c := range cs {
		if c.Group != group {
			group = c.Group
			p.Subsection(strings.ToUpper(group[:1]) + group[1:])
		}
		p.Item(pageName(c)+"(1)", "", c.Synopsis)
	}
	common, _ := newCommonFlags(Command{}, nil) // what is wrong in the environment matters when a command runs
	for _, g := range common.groups {
		p.Section("Flags of every command")
		p.Text(g.title)
		addFlags(p, describe(g.flags))
	}
	p.Section("Environment")
	p.Item("GLOG_NAME", "", "the default of the log's flag NAME, as GLOG_minloglevel")
	p.Item("FLAGS_NAME", "", "the value of flag NAME, where -fromenv or -tryfromenv names it")
	p.Item(HTTPTokenVariable, "", "the word of -http_token, where that flag is not given")
	p.Item("NO_COLOR", "", "if it is set to anything, nothing is coloured")
	addExitStatus(p)
	return p
}

// page is the page of a command.
func (c Command) page() *manpage.Page {
	p := newPage(pageName(c), c.Synopsis, strings.TrimSpace("swcaffe "+c.Name+" "+c.Args))
	p.Section("Description")
	p.Text(c.Help)
	if list := c.describe(c.own()); len(list) > 0 {
		p.Section("Flags")
		addFlags(p, list)
	}
	p.Section("Example")
	p.Example(c.Example)
	addExitStatus(p)
	p.Section("See also")
	p.Line("swcaffe(1), for the flags that every command takes")
	return p
}

func addFlags(p *manpage.Page, list []flagText) {
	for _, d := range list {
		usage := d.usage
		if d.standard != "" {
			usage += fmt.Sprintf(" (default %s)", d.standard)
		}
		p.Item("-"+d.name, d.value, usage)
	}
}

func addExitStatus(p *manpage.Page) {
	p.Section("Exit status")
	p.Item("0", "", "all is well")
	p.Item(fmt.Sprint(exitFailure), "", "an error, which is the last line of the log")
	p.Item(fmt.Sprint(exitUsage), "", "the command line has a fault: nothing was begun")
}
