package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestExamples holds that help shows an example of every command, and that the command accepts its words and flags.
func TestExamples(t *testing.T) {
	for _, c := range commands {
		var out bytes.Buffer
		if code := commands.run(&env{log: newLogger(&out), stdout: &out, stderr: &out}, []string{"help", c.name}); code != 0 {
			t.Errorf("help %s: exit code %d", c.name, code)
		}
		if !strings.Contains(out.String(), "\nexample: swcaffe "+c.name) {
			t.Errorf("help %s shows no example:\n%s", c.name, out.String())
		}
		if name, _ := commands.split(strings.Fields(c.example)[1:]); name != c.name {
			t.Errorf("the example of %s is of %s: %s", c.name, name, c.example)
		}
		if err := commands.check(strings.Fields(c.example)[1:]); err != nil {
			t.Errorf("the example of %s is refused: %v", c.name, err)
		}
	}
}
