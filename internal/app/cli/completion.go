package cli

import (
	"embed"
	"flag"
	"fmt"
	"strings"
)

// Completion is the command completion.
var Completion = Command{
	Name:     "completion",
	Synopsis: "print a script with which a shell completes swcaffe's command lines",
	Args:     "bash|zsh|fish",
	Example:  "swcaffe completion bash",
	Words:    []string{"shell"},
	Help: `Prints a script for a shell. It makes the tab key complete commands, flags, the values of flags that have a fixed list, and names of files
with the endings that a flag takes. One of these lines installs it:

  bash: swcaffe completion bash > ~/.local/share/bash-completion/completions/swcaffe
  zsh:  swcaffe completion zsh > "${fpath[1]}/_swcaffe"
  fish: swcaffe completion fish > ~/.config/fish/completions/swcaffe.fish

In bash without the package bash-completion, put this line into ~/.bashrc instead: eval "$(swcaffe completion bash)"

The scripts ask the binary for candidates: "swcaffe completion reply" answers a line that says "files" or "words", and a line for each
candidate, with its help after a tab.`,
	Do: With(func(fs *flag.FlagSet, o *completionOptions) {
		StringVar(fs, &o.shell, "shell", "", "the shell: bash, zsh or fish; or reply, to answer such a shell", OneOf("bash", "zsh", "fish"))
		fs.StringVar(&o.line, "line", "", "with reply: the `WORDS` before the one to complete, each in a line; the first is the program")
		fs.StringVar(&o.word, "word", "", "with reply: the beginning of the `WORD` to complete")
	}, printCompletion),
}

type completionOptions struct{ shell, line, word string }

//go:embed shells
var shells embed.FS

func printCompletion(e *Env, o *completionOptions) error {
	switch o.shell {
	case "reply":
		if o.line == "" {
			return Usagef("need the words to complete: swcaffe completion reply -line WORDS -word WORD")
		}
		e.reply(strings.Split(o.line, "\n"), o.word)
		return nil
	case "bash", "zsh", "fish":
		script, err := shells.ReadFile("shells/swcaffe." + o.shell)
		if err != nil {
			return err
		}
		_, err = e.Stdout.Write(script)
		return err
	case "":
		return Usagef("need a shell: swcaffe completion bash, zsh or fish")
	}
	return Usagef("unknown shell %q: use bash, zsh or fish", o.shell)
}

// helpWidth limits the help beside a candidate, in characters.
const helpWidth = 100

// reply prints the candidates for a word.
func (e *Env) reply(before []string, begin string) {
	list, files := e.commands.complete(before, begin)
	kind := "words"
	if files {
		kind = "files"
	}
	fmt.Fprintln(e.Stdout, kind)
	for _, c := range list {
		line := c.word
		if help := []rune(strings.Join(strings.Fields(c.help), " ")); len(help) > helpWidth {
			line += "\t" + strings.TrimRight(string(help[:helpWidth-3]), " ") + "..."
		} else if len(help) > 0 {
			line += "\t" + string(help)
		}
		fmt.Fprintln(e.Stdout, line)
	}
}
