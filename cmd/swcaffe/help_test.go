package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// TestExamples: the help of every command shows an example, and the command accepts the example's words and flags.
func TestExamples(t *testing.T) {
	for _, c := range commands {
		var out bytes.Buffer
		if code := commands.Run(&cli.Env{Log: glog.New(&out), Stdout: &out, Stderr: &out}, []string{"help", c.Name}); code != 0 {
			t.Errorf("help %s: exit code %d", c.Name, code)
		}
		if !strings.Contains(out.String(), "\nexample: swcaffe "+c.Name) {
			t.Errorf("help %s shows no example:\n%s", c.Name, out.String())
		}
		if name, _ := commands.Split(strings.Fields(c.Example)[1:]); name != c.Name {
			t.Errorf("the example of %s is of %s: %s", c.Name, name, c.Example)
		}
		if err := commands.Check(strings.Fields(c.Example)[1:]); err != nil {
			t.Errorf("the example of %s is refused: %v", c.Name, err)
		}
	}
}
