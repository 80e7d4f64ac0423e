package cli

import (
	"flag"
	"slices"
	"testing"
)

// testCommands stand for the program's, with some of their flags.
var testCommands = Commands{
	{Name: "train", Do: With(func(fs *flag.FlagSet, _ *struct{}) {
		for _, name := range []string{"solver", "weights", "snapshot", "seed", "threads", "stage", "http_token"} {
			fs.String(name, "", "")
		}
	}, idle)},
	{Name: "test", Do: With(func(fs *flag.FlagSet, _ *struct{}) { fs.String("model", "", "") }, idle)},
	{Name: "dataset", Do: With(func(fs *flag.FlagSet, _ *struct{}) { fs.Bool("force", false, "") }, idle)},
}

func idle(*Env, *struct{}) error { return nil }

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
		name, rest := testCommands.Split(tc.args)
		if name != tc.name || !slices.Equal(rest, tc.rest) {
			t.Errorf("%q: command %q, rest %q, want %q and %q", tc.args, name, rest, tc.name, tc.rest)
		}
	}
}
