package measure

import (
	"bufio"
	"fmt"
	"io"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/topology"
)

// manyNodes is the number of nodes from which on a simulation may be slow, so that the log announces it.
const manyNodes = 4096

// announce logs the start of a simulation that may take long.
func announce(e *cli.Env, algorithm string, nodes int) {
	if nodes >= manyNodes {
		e.Log.Infof("Simulating %s between %d nodes", algorithm, nodes)
	}
}

// simulateAll times the algorithms on the modelled network.
func simulateAll(e *cli.Env, o *allreduceOptions) error {
	l, err := o.layout()
	if err != nil {
		return err
	}
	var rows []allreduceRow
	for _, algorithm := range o.algorithms() {
		picked, err := o.pick(e, algorithm, l)
		if err != nil {
			return err
		}
		announce(e, algorithm, o.nodes)
		t, err := o.simulate(e, picked, l, o.trace)
		if err != nil && o.algorithm == allAlgorithms {
			e.Log.Warnf("%s is left out: %v", algorithm, err)
			continue
		}
		if err != nil {
			return err
		}
		rows = append(rows, o.row(algorithm, picked, t))
	}
	return o.finish(e, allreduceReport{Results: rows})
}

// pick returns the plan for an algorithm's name. dynamic would measure; here it is the plan with the least modelled time.
func (o *allreduceOptions) pick(e *cli.Env, algorithm string, l topology.Layout) (string, error) {
	switch algorithm {
	case topology.Auto:
		return topology.Choose(*o.spec, l, int(o.bytes)), nil
	case topology.Measured:
	default:
		return algorithm, nil
	}
	best, least := "", topology.VTime(0)
	for _, name := range topology.Fixed() {
		announce(e, name, o.nodes)
		t, err := o.simulate(e, name, l, "")
		if err != nil {
			e.Log.Warnf("dynamic does not try %s: %v", name, err)
			continue
		}
		if best == "" || t.Seconds < least {
			best, least = name, t.Seconds
		}
	}
	if best == "" {
		return "", cli.Usagef("-algorithm dynamic: no algorithm can be simulated over %d nodes", o.nodes)
	}
	return best, nil
}

// simulate runs one plan. trace, if not "", is the file for its messages. The array may be cut at any byte if its length is not a
// multiple of 4.
func (o *allreduceOptions) simulate(e *cli.Env, plan string, l topology.Layout, trace string) (topology.Timing, error) {
	element := 1
	if o.bytes%cli.BytesPerValue == 0 {
		element = cli.BytesPerValue
	}
	s := topology.NewSchedule(plan, l, int(o.bytes)/element)
	if trace == "" {
		return topology.Simulate(*o.spec, l, s, element, nil)
	}
	var t topology.Timing
	err := e.CreateFile(trace, func(f io.Writer) (err error) {
		w := bufio.NewWriter(f)
		out := newTrace(w, l)
		if t, err = topology.Simulate(*o.spec, l, s, element, out.message); err != nil {
			return err
		}
		out.close()
		return w.Flush()
	})
	if err != nil {
		err = fmt.Errorf("-trace %s: %w", trace, err)
	}
	return t, err
}

// traceWriter writes messages in Chrome's trace event format (chrome://tracing, ui.perfetto.dev): a process for each supernode, a
// thread for each sender, modelled microseconds. The buffer's Flush reports write errors.
type traceWriter struct {
	w         io.Writer
	layout    topology.Layout
	separator string
}

func newTrace(w io.Writer, l topology.Layout) *traceWriter {
	t := &traceWriter{w: w, layout: l}
	fmt.Fprint(w, `{"displayTimeUnit": "ms", "traceEvents": [`)
	for s := range l.Supernodes() {
		t.event(`{"name": "process_name", "ph": "M", "pid": %d, "args": {"name": "supernode %d"}}`, s, s)
	}
	return t
}

func (t *traceWriter) event(format string, args ...any) {
	fmt.Fprintf(t.w, t.separator+"\n"+format, args...)
	t.separator = ","
}

func (t *traceWriter) message(m topology.Message) {
	const micro = 1e6
	t.event(`{"name": "%d to %d", "ph": "X", "pid": %d, "tid": %d, "ts": %.6f, "dur": %.6f, "args": {"bytes": %d, "to": %d, "to_supernode": %d}}`,
		m.From, m.To, t.layout.Supernode(m.From), m.From, float64(m.Start)*micro, float64(m.End-m.Start)*micro, m.Bytes, m.To, t.layout.Supernode(m.To))
}

func (t *traceWriter) close() { fmt.Fprint(t.w, "\n]}\n") }
