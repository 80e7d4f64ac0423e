package main

import (
	"strings"
	"testing"
)

// TestCommandsAreDocumented holds every command to a summary, an example that begins with its name, and flags with text.
func TestCommandsAreDocumented(t *testing.T) {
	for _, c := range commands {
		if c.Synopsis == "" || c.Help == "" || !strings.HasPrefix(c.Example, "swcaffe "+c.Name) {
			t.Errorf("%s: summary %q, long %q, example %q", c.Name, c.Synopsis, c.Help, c.Example)
		}
		if found, err := commands.Find(c.Name); err != nil || found.Synopsis != c.Synopsis {
			t.Errorf("%s: found as %q, %v", c.Name, found.Synopsis, err)
		}
	}
}
