package solver

import (
	"fmt"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/relay"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver/events"
)

// reporter publishes a solver's events. A nil reporter publishes nothing and reads no clock.
type reporter struct {
	v      *Solver
	stream *events.Stream
	begun  time.Time     // of the current iteration
	waited time.Duration // for data until then
}

// newReporter returns the reporter of a solver, nil if nobody listens.
func newReporter(v *Solver) *reporter {
	if v.opt.Events == nil {
		return nil
	}
	return &reporter{v: v, stream: v.opt.Events}
}

// started reports the start of Solve.
func (r *reporter) started() error {
	if r == nil {
		return nil
	}
	v := r.v
	net, err := TrainNet(v.file)
	if err != nil {
		return err
	}
	r.stream.Publish(&events.Started{
		Solver: v.file.Path, Net: v.net.Name(), Iteration: v.iter, MaxIter: int(v.param.GetMaxIter()), Items: events.Number(r.items()),
		Workers: v.team.size(), Seed: v.seed, Snapshot: v.origin,
		SolverText: string(swproto.MarshalText(v.param)), NetText: string(swproto.MarshalText(net.Param)), MachineText: v.opt.MachineText,
		Layers: layersOf(v.net),
	})
	return nil
}

// layersOf describes a net's layers.
func layersOf(n *swnet.Net) []events.Layer {
	list := make([]events.Layer, n.NumLayers())
	for i := range list {
		l := events.Layer{Name: n.LayerName(i), Type: n.LayerType(i), Tops: []string{}}
		for _, top := range n.Tops(i) {
			l.Tops = append(l.Tops, top.ShapeString())
		}
		for _, b := range n.Layer(i).Params() {
			l.Weights += b.Count()
		}
		list[i] = l
	}
	return list
}

// items returns the items of an iteration, of all workers together.
func (r *reporter) items() float64 {
	return r.v.itemsOfPass() * float64(max(1, r.v.param.GetIterSize()))
}

// begin marks the start of an iteration.
func (r *reporter) begin() {
	if r != nil {
		r.begun, r.waited = r.v.opt.Now(), dataWait(r.v.net)
	}
}

// iteration reports the iteration since begin.
func (r *reporter) iteration() {
	if r == nil {
		return
	}
	v := r.v
	e := &events.Iteration{
		Iteration: v.iter, Loss: events.Number(v.lastLoss), Smoothed: events.Number(v.losses.mean), Rate: events.Number(v.lastRate), Outputs: outputValues(v.net),
	}
	if lapse := v.opt.Now().Sub(r.begun).Seconds(); lapse > 0 {
		e.Speed = events.Number(r.items() / lapse)
		e.Wait = events.Number((dataWait(v.net) - r.waited).Seconds() / lapse)
	}
	v.watch.simulated(e)
	r.stream.Publish(e)
}

// maxValues is the number of values of an output that events list one by one.
const maxValues = 64

// outputValues lists the values of a net's outputs. Of an output with more than maxValues values it gives the mean.
func outputValues(n *swnet.Net) []events.Value {
	var list []events.Value
	for _, out := range n.Outputs() {
		values := out.Blob.Data()
		if len(values) <= maxValues {
			for i, x := range values {
				list = append(list, events.Value{Name: valueName(out.Name, i, len(values)), Value: events.Number(x), Weight: events.Number(out.LossWeight)})
			}
			continue
		}
		var sum float64
		for _, x := range values {
			sum += float64(x)
		}
		list = append(list, events.Value{Name: meanName(out.Name, len(values)), Value: events.Number(sum / float64(len(values))), Weight: events.Number(out.LossWeight)})
	}
	return list
}

// valueName names value i of an output with a number of values.
func valueName(output string, i, of int) string {
	if of == 1 {
		return output
	}
	return fmt.Sprintf("%s[%d]", output, i)
}

// meanName names the mean of an output's values.
func meanName(output string, of int) string { return fmt.Sprintf("mean of %s (%d values)", output, of) }

// tested reports the results of a test.
func (r *reporter) tested(net int, results *results, batches float64) {
	if r == nil {
		return
	}
	e := &events.Test{Iteration: r.v.iter, Net: net, Loss: events.Number(results.loss / batches)}
	n := r.v.testNets[net]
	for k := range results.precisions {
		_, mean := results.precisions[k].Classes(r.v.evaluation.Version)
		e.Outputs = append(e.Outputs, events.Value{Name: n.Outputs()[k].Name, Value: events.Number(mean)})
	}
	for rest := results.scores; len(rest) > 0; {
		of := 1
		for of < len(rest) && rest[of].name == rest[0].name {
			of++
		}
		e.Outputs = append(e.Outputs, testValues(rest[:of], batches)...)
		rest = rest[of:]
	}
	r.stream.Publish(e)
}

// testValues lists the scores of one output as outputValues does.
func testValues(scores []score, batches float64) []events.Value {
	weight := events.Number(scores[0].weight)
	if len(scores) > maxValues {
		var sum float64
		for _, s := range scores {
			sum += s.sum
		}
		mean := sum / batches / float64(len(scores))
		return []events.Value{{Name: meanName(scores[0].name, len(scores)), Value: events.Number(mean), Weight: weight}}
	}
	var list []events.Value
	for i, s := range scores {
		list = append(list, events.Value{Name: valueName(s.name, i, len(scores)), Value: events.Number(s.sum / batches), Weight: weight})
	}
	return list
}

// wrote reports a snapshot.
func (r *reporter) wrote(state string) {
	if r != nil {
		r.stream.Publish(&events.Snapshot{Iteration: r.v.iter, State: state})
	}
}

// ended is deferred to report the end of Solve: its error, or a panic, which goes on.
func (r *reporter) ended(err *error) {
	if r == nil {
		return
	}
	if broken := relay.Recovered(recover()); broken != nil {
		r.stream.Publish(&events.Crashed{Iteration: r.v.iter, Error: fmt.Sprint(broken.Value), Stack: string(broken.Stack)})
		panic(broken)
	}
	switch {
	case *err != nil:
		r.stream.Publish(&events.Crashed{Iteration: r.v.iter, Error: (*err).Error()})
	default:
		r.stream.Publish(&events.Stopped{Iteration: r.v.iter, Early: r.v.stopped})
	}
}
