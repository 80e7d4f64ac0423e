package measure

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// timeCores prints how the kernels divide a net's work among any number of cores like this computer's or, with -processor, what time they would take on
// that. Nothing is computed.
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
	if o.processor != "" {
		return timeProcessor(e, o, file, options, numbers)
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

// timeProcessor prints and writes the modelled times on numbers of a processor's cores and, for the last number, the passes that take most of it.
func timeProcessor(e *cli.Env, o *timeOptions, file *swproto.Net, options modeltime.Options, numbers []int) error {
	p, err := modeltime.LoadProcessor(o.processor)
	if err != nil {
		return cli.FlagError("processor", err)
	}
	var all []*modeltime.CoresTime
	for _, cores := range numbers {
		t, err := modeltime.Cores(file, options, p, cores, o.forwardOnly)
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	if err := printCores(e.Tables, all); err != nil {
		return err
	}
	return e.WriteJSON(o.json, struct {
		Times []*modeltime.CoresTime `json:"times"`
	}{all})
}

// printCores prints a line a number of cores, and the passes of the last one that take a hundredth of the time or more.
func printCores(w io.Writer, all []*modeltime.CoresTime) error {
	last := all[len(all)-1]
	what := "training"
	if last.Inference {
		what = "inference"
	}
	fmt.Fprintf(w, "%s, %s in %s, %d images, modelled on %s\n", last.Model, what, last.Precision, last.Batch, last.Processor)
	fmt.Fprintf(w, "%5s %22s %10s %9s %7s %9s  %s\n", "cores", "ms", "images/s", "speed-up", "idle", "one core", "bound by")
	for _, t := range all {
		fmt.Fprintf(w, "%5d %22s %10.1f %9s %6.1f%% %8.2f%%  %s\n", t.Cores, fmt.Sprintf("%.4g [%.4g %.4g]", t.Ms, t.MsRange.Low, t.MsRange.High), t.Images,
			fmt.Sprintf("%.2f", all[0].Ms*float64(all[0].Cores)/t.Ms), 100*t.Idle, 100*t.Alone, boundsOf(t.Bounds))
	}
	fmt.Fprintf(w, "\nof %s, passes that take 1 %% of the time or more:\n%-28s %-16s %9s %7s %7s  %s\n", coresOf(last.Cores), "layer", "pass", "ms", "share", "idle", "bound by")
	for _, p := range last.Passes {
		if p.Share >= 0.01 {
			fmt.Fprintf(w, "%-28s %-16s %9.4f %6.1f%% %6.1f%%  %s\n", p.Layer, p.Pass, p.Ms, 100*p.Share, 100*p.Idle, p.Bound)
		}
	}
	return nil
}

// boundsOf prints what bounds the time, with its part of it, the largest first.
func boundsOf(bounds map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(bounds), func(a, b string) int { return cmp.Or(cmp.Compare(bounds[b], bounds[a]), cmp.Compare(a, b)) })
	var words []string
	for _, name := range names {
		words = append(words, fmt.Sprintf("%s %.0f%%", name, 100*bounds[name]))
	}
	return strings.Join(words, ", ")
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
