package main

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitCommand(t *testing.T) {
	tests := []struct {
		args []string
		name string
		rest []string
	}{
		{nil, "", nil},
		{[]string{"train"}, "train", []string{}},
		{[]string{"train", "-solver", "x"}, "train", []string{"-solver", "x"}},
		{[]string{"-solver", "x", "train", "-seed=1"}, "train", []string{"-solver", "x", "-seed=1"}},
		{[]string{"--solver=x", "train"}, "train", []string{"--solver=x"}},
		{[]string{"-solver", "test", "train"}, "train", []string{"-solver", "test"}},
		{[]string{"-seed", "-1", "train"}, "train", []string{"-seed", "-1"}},
		{[]string{"-force", "dataset", "digits"}, "dataset", []string{"-force", "digits"}},
		{[]string{"-unknown", "x", "train"}, "train", []string{"-unknown", "x"}},
		{[]string{"trian", "-solver", "x"}, "trian", []string{"-solver", "x"}},
		{[]string{"help", "train"}, "help", []string{"train"}},
		{[]string{"-h"}, "", []string{"-h"}},
	}
	for _, tc := range tests {
		name, rest := splitCommand(tc.args)
		if name != tc.name || !slices.Equal(rest, tc.rest) {
			t.Errorf("%q: command %q, rest %q, want %q and %q", tc.args, name, rest, tc.name, tc.rest)
		}
	}
}

// TestCommandsAreDocumented holds every command to a summary, an example that begins with its name, and flags with text.
func TestCommandsAreDocumented(t *testing.T) {
	for _, c := range commands {
		if c.summary == "" || c.long == "" || !strings.HasPrefix(c.example, "swcaffe "+c.name) {
			t.Errorf("%s: summary %q, long %q, example %q", c.name, c.summary, c.long, c.example)
		}
		if found, err := findCommand(c.name); err != nil || found.summary != c.summary {
			t.Errorf("%s: found as %q, %v", c.name, found.summary, err)
		}
	}
}
