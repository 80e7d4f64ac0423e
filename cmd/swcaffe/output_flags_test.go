package main

import (
	"flag"
	"slices"
	"testing"
)

// TestOutputFlags: every command with a flag for what it makes takes it as -o and as -out too, and refuses both elsewhere.
func TestOutputFlags(t *testing.T) {
	results := []string{"o", "out", "db", "dbs", "dir"} // names that such flags have
	readers := []string{"board"}                        // commands whose dir is read
	with := 0
	for _, c := range commands {
		registered := ""
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		c.Do(fs)
		for _, name := range results {
			if fs.Lookup(name) != nil && !slices.Contains(readers, c.Name) {
				registered = name
			}
		}
		for _, name := range []string{"o", "out"} {
			for _, words := range [][]string{{c.Name, "-" + name, "x"}, {c.Name, "--" + name + "=x"}, {"-" + name, "x", c.Name}} {
				if err := commands.Check(words); (err == nil) != (registered != "") {
					t.Errorf("%q, whose command has the flag %q: %v", words, registered, err)
				}
			}
		}
		if registered != "" {
			with++
		}
	}
	if with < 15 {
		t.Errorf("%d commands make something", with)
	}
}
