package measure

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// timeCores prints how the kernels divide a net's work among any number of cores like this computer's. Nothing is computed.
func timeCores(e *cli.Env, o *timeOptions, spec cpe.Spec, phase caffepb.Phase) error {
	numbers, err := parseNumbers(o.cores)
	if err != nil {
		return cli.Usagef("-cores: %w", err)
	}
	if err := cpe.CheckCores(slices.Max(numbers)); err != nil {
		return cli.Usagef("-cores %w", err)
	}
	spec, without := o.modelled.leaveOut(spec)
	if len(without) > 0 {
		return cli.Usagef("-without %s: with -cores, only algorithms can be left out", strings.Join(without, ","))
	}
	file, options, err := o.modelled.options(e, o.model, spec, &o.state, phase)
	if err != nil {
		return err
	}
	if options.Force, _, err = o.strategies.Read(e, o.device.Engine, spec); err != nil {
		return err
	}
	for i, cores := range numbers {
		options.Spec.CoreGroups = cores
		list, err := modeltime.Survey(file, options, o.forwardOnly)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(e.Tables)
		}
		if err := printDivisions(e.Tables, cores, list); err != nil {
			return err
		}
	}
	return nil
}

// evenly is the longest core's part over the mean up to which a program divides its work evenly: 15 % of the cores' time is idle.
const evenly = 1 / 0.85

// printDivisions prints a line a program, and how many are uneven.
func printDivisions(w io.Writer, cores int, list []modeltime.Division) error {
	fmt.Fprintf(w, "%-24s %-8s %-44s %5s %5s %14s %12s\n", "layer", "pass", "program", "runs", "cores", "units", "longest/mean")
	uneven := 0
	for _, d := range list {
		fmt.Fprintf(w, "%-24s %-8s %-44s %5d %5d %14s %12.2f\n", d.Layer, d.Pass, d.Program, d.Runs, d.Cores, unitsOf(d.Units), d.Longest)
		if d.Longest > evenly {
			uneven++
		}
	}
	_, err := fmt.Fprintf(w, "\nplans for %s: %d of %d programs leave more than 15 %% of the cores idle\n", coresOf(cores), uneven, len(list))
	return err
}

// coresOf is a number of cores in words.
func coresOf(n int) string {
	if n == 1 {
		return "one core"
	}
	return fmt.Sprint(n, " cores")
}

// unitsOf prints units: 128 that are shared, 128/4 of which a core claims up to four at once, and several divisions with a plus sign.
func unitsOf(list []cpe.Units) string {
	var words []string
	for _, u := range list {
		if word := fmt.Sprint(u.N); u.Most > 0 {
			words = append(words, fmt.Sprintf("%s/%d", word, u.Most))
		} else {
			words = append(words, word)
		}
	}
	return strings.Join(words, "+")
}
