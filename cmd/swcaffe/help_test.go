package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
)

// TestExamples holds that help shows an example of every command, and that the command accepts its words and flags.
func TestExamples(t *testing.T) {
	for _, c := range commands {
		var out bytes.Buffer
		if code := run(&env{log: newLogger(&out), stdout: &out, stderr: &out}, []string{"help", c.name}); code != 0 {
			t.Errorf("help %s: exit code %d", c.name, code)
		}
		if !strings.Contains(out.String(), "\nexample: swcaffe "+c.name) {
			t.Errorf("help %s shows no example:\n%s", c.name, out.String())
		}
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(fs)
		name, rest := splitCommand(strings.Fields(c.example)[1:])
		if name != c.name {
			t.Errorf("the example of %s is of %s: %s", c.name, name, c.example)
		}
		if err := parseFlags(fs, commonOf(t, c, fs), rest, c.words); err != nil {
			t.Errorf("the example of %s is refused: %v", c.name, err)
		}
	}
}

// commonOf returns the flags that a command takes beside its own.
func commonOf(t *testing.T, c command, own *flag.FlagSet) *commonFlags {
	t.Helper()
	f, err := newCommonFlags(c, own)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
