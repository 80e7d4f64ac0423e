package randomtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// Refused is the prefix of failures of problems that the reference refuses. Shrinking never turns another failure into one of
// these.
const Refused = "refused: "

// shrink makes a failing problem smaller as long as it fails in any way, until ctx ends.
func shrink(ctx context.Context, c *child, kind string, p Problem, what string) (Problem, string, error) {
	for steps := 0; steps < maxShrinks; {
		smaller := false
		for _, s := range p.Smaller() {
			if steps++; steps > maxShrinks {
				break
			}
			w, _, err := c.check(ctx, kind, s.String())
			if errors.Is(err, context.Canceled) {
				return p, what, nil
			}
			if err != nil {
				return p, what, err
			}
			if w != "" && strings.HasPrefix(w, Refused) == strings.HasPrefix(what, Refused) {
				p, what, smaller = s, w, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return p, what, nil
}

// maxShrinks limits the problems tried for one failure.
const maxShrinks = 2000

// Repeat checks the problem in a file on every level, until ctx ends.
func Repeat(ctx context.Context, o Options, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return o.checkText(ctx, file, string(text))
}

// CheckOne prints the problem with a given number, as drawn, and checks it on every level, until ctx ends.
func CheckOne(ctx context.Context, o Options, index int) error {
	if len(o.Kinds) != 1 {
		return fmt.Errorf("of which kind is problem %d: one is needed", index)
	}
	text := o.Kinds[0].Random(rand.New(rand.NewPCG(o.Seed, uint64(index)))).String()
	fmt.Fprintln(o.Out, text)
	return o.checkText(ctx, fmt.Sprintf("problem %d of seed %d", index, o.Seed), text)
}

func (o *Options) checkText(ctx context.Context, name, text string) error {
	if len(o.Kinds) != 1 {
		return fmt.Errorf("of which kind is %s: one is needed", name)
	}
	for _, level := range o.Levels {
		c := &child{program: o.Program, level: level, timeout: o.Timeout}
		what, _, err := c.check(ctx, o.Kinds[0].Name, text)
		c.stop()
		if err != nil {
			return err
		}
		if what != "" {
			return fmt.Errorf("%s, vector level %s: %s", name, level, what)
		}
		fmt.Fprintf(o.Out, "%s, vector level %s: ok\n", name, level)
	}
	return nil
}
