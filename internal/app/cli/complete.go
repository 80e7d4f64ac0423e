package cli

import (
	"flag"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// candidate is a word that may stand in a command line, with a line of help or "".
type candidate struct{ word, help string }

// complete lists the words that may stand in the place of begin, the beginning of a word, after the words before it; the first of these is
// the program. After -flag= the candidates are values without these characters. files reports that they are paths.
func (cs Commands) complete(before []string, begin string) (list []candidate, files bool) {
	p := programNamed(before[0])
	before = before[1:]
	name, rest, err := p.split(cs, before)
	c, unknown := cs.Find(name)
	if err != nil || name != "" && name != "help" && unknown != nil {
		return nil, false
	}
	flags := cs.flagsOf(c, name)
	if n := len(before); n > 0 {
		if last, value := cutFlag(before[n-1]); value == nil && takesValue(flags[last]) {
			return takenBy(flags[last]).candidates(begin)
		}
	}
	if strings.HasPrefix(begin, "-") {
		if last, value := cutFlag(begin); value != nil {
			return valuesAfter(flags[last], *value)
		}
		return flagsFrom(c, flags, begin), false
	}
	switch {
	case name == "":
		return cs.namesFrom(begin, p, candidate{"help", "list commands, or show a command's flags"}), false
	case name == "help":
		return cs.namesFrom(begin, p), false
	}
	return c.wordsFrom(flags, rest, begin)
}

// flagsOf maps names to the flags of a command, or of all if none is named.
func (cs Commands) flagsOf(c Command, name string) map[string]*flag.Flag {
	all := map[string]*flag.Flag{}
	if name == "" {
		for _, c := range cs {
			c.own().VisitAll(func(f *flag.Flag) { all[f.Name] = f })
		}
		c = Command{}
	}
	own := flag.NewFlagSet(name, flag.ContinueOnError)
	if c.Do != nil {
		own = c.own()
	}
	common, _ := newCommonFlags(c, own) // what is wrong in the environment matters when the command runs
	for _, g := range common.groups {
		g.flags.VisitAll(func(f *flag.Flag) { all[f.Name] = f })
	}
	own.VisitAll(func(f *flag.Flag) { all[f.Name] = f })
	if f := own.Lookup(c.output(own)); f != nil {
		for _, name := range outputNames {
			all[name] = f
		}
	}
	return all
}

// own returns a command's own flags.
func (c Command) own() *flag.FlagSet {
	fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	c.Do(fs)
	return fs
}

// takesValue reports whether a flag is followed by its value.
func takesValue(f *flag.Flag) bool { return f != nil && !glog.IsBool(f) }

// valuesAfter lists the values of a flag after "=".
func valuesAfter(f *flag.Flag, begin string) ([]candidate, bool) {
	switch {
	case f == nil:
		return nil, false
	case glog.IsBool(f):
		return OneOf("true", "false").candidates(begin)
	}
	return takenBy(f).candidates(begin)
}

// flagsFrom lists flags in the order of their names, with as many dashes as begin has. After a dash alone, these are the command's own.
func flagsFrom(c Command, flags map[string]*flag.Flag, begin string) (list []candidate) {
	name := strings.TrimLeft(begin, "-")
	dashes := begin[:len(begin)-len(name)]
	var own *flag.FlagSet
	if c.Do != nil {
		own = c.own()
	}
	for n, f := range flags {
		if strings.HasPrefix(n, name) && (name != "" || own == nil || own.Lookup(n) != nil) {
			_, usage := flag.UnquoteUsage(f)
			list = append(list, candidate{dashes + n, usage})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return list
}

// namesFrom lists the commands of a program, and further words.
func (cs Commands) namesFrom(begin string, p program, more ...candidate) (list []candidate) {
	for _, c := range cs {
		if !p.brew || isBrew(c.Name) {
			more = append(more, candidate{c.Name, c.Synopsis})
		}
	}
	for _, c := range more {
		if strings.HasPrefix(c.word, begin) {
			list = append(list, c)
		}
	}
	return list
}

// wordsFrom lists what the next word without a dash may be, after the other words of a command.
func (c Command) wordsFrom(flags map[string]*flag.Flag, rest []string, begin string) ([]candidate, bool) {
	place := 0
	for i := 0; i < len(rest); i++ {
		name, value := cutFlag(rest[i])
		switch {
		case name == "":
			place++
		case value == nil && takesValue(flags[name]):
			i++
		}
	}
	if len(c.Words) == 0 {
		return nil, false
	}
	last := c.Words[len(c.Words)-1]
	name, many := strings.CutSuffix(last, "...")
	if place < len(c.Words)-1 {
		name = c.Words[place]
	} else if place >= len(c.Words) && !many {
		return nil, false
	}
	return takenBy(flags[name]).candidates(begin)
}
