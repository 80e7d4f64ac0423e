package main

import (
	"strings"
	"testing"
)

// TestCommandsAreDocumented holds every command to a summary, an example that begins with its name, and flags with text.
func TestCommandsAreDocumented(t *testing.T) {
	for _, c := range commands {
		if c.summary == "" || c.long == "" || !strings.HasPrefix(c.example, "swcaffe "+c.name) {
			t.Errorf("%s: summary %q, long %q, example %q", c.name, c.summary, c.long, c.example)
		}
		if found, err := commands.find(c.name); err != nil || found.summary != c.summary {
			t.Errorf("%s: found as %q, %v", c.name, found.summary, err)
		}
	}
}
