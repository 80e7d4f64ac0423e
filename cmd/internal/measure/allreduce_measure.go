package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/topology"
)

// measureLocal times the algorithms between goroutines of this process.
func measureLocal(e *cli.Env, o *allreduceOptions) error {
	l, err := o.layout()
	if err != nil {
		return err
	}
	pages.Demand(float64(o.nodes) * float64(o.bytes) / cli.BytesPerValue)
	var rows []allreduceRow
	var pass float64
	err = topology.NewLocal(o.nodes).Run(func(t topology.Transport) error {
		data := make([]float32, o.bytes/cli.BytesPerValue)
		mine, err := o.measureAll(t, l, data)
		if err != nil {
			return err
		}
		seconds, err := o.measurePass(t, l, data)
		if t.Rank() == 0 {
			rows, pass = mine, seconds
		}
		return err
	})
	if err != nil {
		return err
	}
	return o.finish(e, allreduceReport{Results: rows, Memory: o.memory(rows, pass)})
}

// measureMPI times the algorithms between the processes of a job. Rank 0 reports.
func measureMPI(e *cli.Env, o *allreduceOptions, job *topology.MPIJob) (err error) {
	defer pages.Catch(&err)
	switch {
	case o.nodes != 0 && o.nodes != job.Size():
		return fmt.Errorf("-nodes %d: the MPI job has %d processes", o.nodes, job.Size())
	case job.Size() > topology.MaxProbeRanks:
		return fmt.Errorf("the MPI job has %d processes; sums are checked for up to %d", job.Size(), topology.MaxProbeRanks)
	}
	o.nodes = job.Size()
	l, err := o.layout()
	if err != nil {
		return err
	}
	pages.Demand(float64(o.bytes) / cli.BytesPerValue)
	rows, err := o.measureAll(job, l, make([]float32, o.bytes/cli.BytesPerValue))
	if err != nil || job.Rank() != 0 {
		return err
	}
	return o.finish(e, allreduceReport{Results: rows})
}

// measureAll is one rank's part of the measurements, with its array. Only rank 0 returns rows.
func (o *allreduceOptions) measureAll(t topology.Transport, l topology.Layout, data []float32) ([]allreduceRow, error) {
	var rows []allreduceRow
	for _, algorithm := range o.algorithms() {
		m := newMeasurement(t, l)
		picked, err := m.run(o, algorithm, data)
		if err != nil {
			return nil, err
		}
		seconds, err := m.slowest()
		if err != nil {
			return nil, err
		}
		timing := topology.Traffic(l, topology.NewSchedule(picked, l, len(data)), cli.BytesPerValue)
		timing.Seconds = topology.VTime(seconds)
		rows = append(rows, o.row(algorithm, picked, timing))
	}
	return rows, nil
}

// measurement times one algorithm on one rank.
type measurement struct {
	transport topology.Transport
	layout    topology.Layout
	barrier   *topology.AllReduce // an all-reduce of no values: waits for all ranks
	took      []float32           // seconds of each iteration
}

func newMeasurement(t topology.Transport, l topology.Layout) *measurement {
	return &measurement{transport: t, layout: l, barrier: topology.NewAllReduce(t, topology.NewSchedule("recursive_doubling", l, 0))}
}

// run makes one sum for warming up (for dynamic: all sums of its trial), then times o.iterations sums.
func (m *measurement) run(o *allreduceOptions, algorithm string, data []float32) (picked string, err error) {
	if algorithm == topology.Measured {
		start := time.Now()
		d := topology.NewDynamic(m.transport, m.layout, len(data), func() topology.VTime { return topology.VTime(time.Since(start).Seconds()) })
		for d.Trying() {
			if _, err := m.sum(algorithm, d.Run, data); err != nil {
				return "", err
			}
		}
		picked = d.Current()
		return picked, m.repeat(o.iterations, algorithm, d.Run, data)
	}
	picked = algorithm
	if algorithm == topology.Auto {
		picked = topology.Choose(*o.spec, m.layout, int(o.bytes))
	}
	reduce := topology.NewAllReduce(m.transport, topology.NewSchedule(picked, m.layout, len(data)))
	if _, err := m.sum(algorithm, reduce.Run, data); err != nil {
		return "", err
	}
	return picked, m.repeat(o.iterations, algorithm, reduce.Run, data)
}

func (m *measurement) repeat(iterations int, algorithm string, reduce func([]float32) error, data []float32) error {
	for range iterations {
		took, err := m.sum(algorithm, reduce, data)
		if err != nil {
			return err
		}
		m.took = append(m.took, float32(took.Seconds()))
	}
	return nil
}

// sum makes and checks one sum. All ranks start together.
func (m *measurement) sum(algorithm string, reduce func([]float32) error, data []float32) (time.Duration, error) {
	topology.FillProbe(data, m.transport.Rank())
	if err := m.barrier.Run(nil); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := reduce(data); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if i, want := topology.CheckProbe(data, m.transport.Size()); i >= 0 {
		return 0, fmt.Errorf("%s: the sum at %d is %g, want %g", algorithm, i, data[i], want)
	}
	return took, nil
}

// slowest returns, on rank 0, the median over iterations of the slowest rank's seconds.
func (m *measurement) slowest() (float64, error) {
	if m.transport.Rank() != 0 {
		return 0, m.transport.Send(0, m.took)
	}
	other := make([]float32, len(m.took))
	for rank := 1; rank < m.transport.Size(); rank++ {
		if err := m.transport.Recv(rank, other); err != nil {
			return 0, err
		}
		for i, took := range other {
			m.took[i] = max(m.took[i], took)
		}
	}
	slices.Sort(m.took)
	k := len(m.took) / 2
	if len(m.took)%2 == 0 {
		return float64(m.took[k-1]+m.took[k]) / 2, nil
	}
	return float64(m.took[k]), nil
}
