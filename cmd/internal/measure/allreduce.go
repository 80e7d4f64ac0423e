package measure

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"github.com/swcaffe/swcaffe/topology"
)

// AllReduce is the command allreduce.
var AllReduce = cli.Command{
	Name:     "allreduce",
	Synopsis: "time all-reduce algorithms on a modelled cluster, or for real",
	Args:     "-cluster NAME|FILE -nodes P [-bytes N] [-algorithm A|all] [-mapping block|round_robin] [-json FILE] [-trace FILE]",
	Example:  "swcaffe allreduce -cluster taihulight -nodes 1024 -bytes 232600000 -algorithm all -mapping block",
	Help: `Simulates the messages of an all-reduce on a cluster's network and prints the modelled time, the largest number of steps of
a node, the bytes sent by all nodes inside and across supernodes, and the bus bandwidth 2 n (P-1)/P / t.

A simulation of the whole TaihuLight, 40,960 nodes, takes seconds per algorithm.

auto picks the algorithm with the smallest closed-form estimate; dynamic picks the fastest one. With -transport local the
nodes are goroutines of this process; with mpi (or under mpirun) they are the processes of a job. Both compute and check real
sums, and the time is the median over -iterations of the slowest rank's time. With local, the time is compared with reading
and writing all arrays once, the least memory traffic of an all-reduce.`,
	Joins: true,
	Do:    cli.With(allreduceFlags, allreduce),
}

func allreduceFlags(fs *flag.FlagSet, o *allreduceOptions) {
	cli.StringVar(fs, &o.cluster, "cluster", "", "a cluster's `NAME`, or a cluster file; needed unless the time is measured", cli.OneOf(topology.ClusterNames()...).OrFiles(cli.Prototxt))
	fs.IntVar(&o.nodes, "nodes", 0, "the number of nodes; under mpirun, that of its processes")
	fs.Int64Var(&o.bytes, "bytes", 232_600_000, "the size of the array; a multiple of 4 (float32) where sums are really made")
	cli.StringVar(fs, &o.algorithm, "algorithm", allAlgorithms, "all (that have a plan), or one of "+fmt.Sprint(topology.Algorithms()), cli.OneOf(append(topology.Algorithms(), allAlgorithms)...))
	cli.StringVar(fs, &o.mapping, "mapping", string(topology.Block), "how consecutive nodes are placed: block or round_robin", cli.OneOf("block", "round_robin"))
	cli.StringVar(fs, &o.transport, "transport", "", "sim, local or mpi (default: mpi under mpirun, else sim)", cli.OneOf(cli.TransportSim, cli.TransportLocal, cli.TransportMPI))
	fs.IntVar(&o.iterations, "iterations", 10, "local and mpi: the number of sums to measure")
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE` as well")
	cli.OutputVar(fs, &o.trace, "trace", "write the messages of a simulation to `FILE` (Chrome's trace event format)")
}

const allAlgorithms = "all"

// maxBytes limits the array, so that the sum of all nodes' messages does not overflow.
const maxBytes int64 = 1 << 40

type allreduceOptions struct {
	cluster, algorithm, mapping, transport, json, trace string
	nodes, iterations                                   int
	bytes                                               int64

	spec    *topology.Spec // the cluster; nil if none is given
	placing topology.Mapping
}

func allreduce(e *cli.Env, o *allreduceOptions) error {
	if err := o.check(e); err != nil {
		return err
	}
	switch o.transport {
	case cli.TransportLocal:
		return measureLocal(e, o)
	case cli.TransportMPI:
		return cli.InJob(e, 0, func(job *topology.MPIJob) error { return measureMPI(e, o, job) })
	}
	return simulateAll(e, o)
}

// check validates the flags, reads the cluster and sets the defaults that depend on the environment.
func (o *allreduceOptions) check(e *cli.Env) (err error) {
	if o.transport == "" {
		o.transport = cli.TransportSim
		if e.UnderMPI() {
			o.transport = cli.TransportMPI
		}
	}
	if e.UnderMPI() && o.transport != cli.TransportMPI {
		return cli.Usagef("-transport %s: %s, and each would print a table of its own; leave the flag out", o.transport, e.World().Among())
	}
	if o.algorithm != allAlgorithms {
		if err := topology.CheckAlgorithm(o.algorithm); err != nil {
			return cli.Usagef("-algorithm: %w", err)
		}
	}
	if o.placing, err = topology.ParseMapping(o.mapping); err != nil {
		return cli.Usagef("-mapping: %w", err)
	}
	if o.bytes < 0 || int64(o.bytes) > maxBytes {
		return cli.Usagef("-bytes %d: an array has 0 to %d", o.bytes, maxBytes)
	}
	if o.cluster != "" {
		spec, err := topology.LoadSpec(o.cluster)
		if err != nil {
			return cli.FlagError("cluster", err)
		}
		o.spec = &spec
	}
	switch o.transport {
	case cli.TransportSim:
		return o.checkSimulated()
	case cli.TransportLocal, cli.TransportMPI:
		return o.checkMeasured()
	}
	return cli.Usagef("-transport %q: must be %s, %s or %s", o.transport, cli.TransportSim, cli.TransportLocal, cli.TransportMPI)
}

func (o *allreduceOptions) checkSimulated() error {
	switch {
	case o.spec == nil:
		return cli.Usagef("need a cluster to simulate: -cluster NAME|FILE (clusters: %s)", strings.Join(topology.ClusterNames(), ", "))
	case o.trace != "" && o.algorithm == allAlgorithms:
		return cli.Usagef("-trace holds the messages of one algorithm: choose it with -algorithm")
	}
	return o.checkNodes()
}

func (o *allreduceOptions) checkMeasured() error {
	switch {
	case o.bytes%cli.BytesPerValue != 0:
		return cli.Usagef("-bytes %d: float32 values need a multiple of %d", o.bytes, cli.BytesPerValue)
	case o.iterations < 1:
		return cli.Usagef("-iterations %d: at least one is needed", o.iterations)
	case o.trace != "":
		return cli.Usagef("-trace: only simulated messages are traced, not those of -transport %s", o.transport)
	case o.algorithm == topology.Auto && o.spec == nil:
		return cli.Usagef("-algorithm auto picks by a cluster's figures: -cluster NAME|FILE is needed")
	case o.transport == cli.TransportMPI:
		return nil // the number of processes in the job decides
	case o.nodes > cli.MaxLocalRanks:
		return cli.Usagef("-nodes %d: at most %d run in one process", o.nodes, cli.MaxLocalRanks)
	}
	return o.checkNodes()
}

func (o *allreduceOptions) checkNodes() error {
	if o.nodes < 1 {
		return cli.Usagef("-nodes %d: at least one node is needed", o.nodes)
	}
	return nil
}

// layout places the nodes in the cluster, or under one switch without a cluster.
func (o *allreduceOptions) layout() (topology.Layout, error) {
	if o.spec == nil {
		return topology.Flat(o.nodes), nil
	}
	l, err := topology.NewLayout(*o.spec, o.nodes, o.placing)
	if err != nil {
		return l, cli.Usagef("-nodes: %w", err)
	}
	return l, nil
}

// algorithms lists the algorithms to time.
func (o *allreduceOptions) algorithms() []string {
	if o.algorithm == allAlgorithms {
		return topology.Fixed()
	}
	return []string{o.algorithm}
}

// allreduceReport is the content of the -json file.
type allreduceReport struct {
	Cluster   string         `json:"cluster,omitempty"`
	Transport string         `json:"transport"`
	Results   []allreduceRow `json:"results"`
	Memory    *memoryFigures `json:"memory,omitempty"` // for transport local only
}

// allreduceRow holds one algorithm's figures. Seconds are modelled with transport sim and measured with the others.
type allreduceRow struct {
	Algorithm    string  `json:"algorithm"`
	Picked       string  `json:"picked,omitempty"` // the algorithm chosen by auto or dynamic
	Mapping      string  `json:"mapping"`
	Nodes        int     `json:"nodes"`
	Bytes        int64   `json:"bytes"`
	Seconds      float64 `json:"seconds"`
	Steps        int     `json:"steps"`
	IntraBytes   int64   `json:"intra_bytes"`
	InterBytes   int64   `json:"inter_bytes"`
	BusBandwidth float64 `json:"busbw_gbytes_per_s"`
	// Ranges of modelled figures.
	SecondsRange      trust.Range `json:"seconds_range,omitzero"`
	BusBandwidthRange trust.Range `json:"busbw_gbytes_per_s_range,omitzero"`
}

// row returns the figures of a result. picked is the choice of auto or dynamic, else the algorithm itself.
func (o *allreduceOptions) row(algorithm, picked string, t topology.Timing) allreduceRow {
	r := allreduceRow{
		Algorithm: algorithm, Mapping: o.mapping, Nodes: o.nodes, Bytes: o.bytes, Seconds: float64(t.Seconds), Steps: t.Steps,
		IntraBytes: t.IntraBytes, InterBytes: t.InterBytes, BusBandwidth: t.BusBandwidth(o.nodes, int(o.bytes)) / 1e9,
	}
	if picked != algorithm {
		r.Picked = picked
	}
	if o.transport == cli.TransportSim {
		r.SecondsRange = trust.Of(o.spec.Name).Range(trust.Communication, r.Seconds)
		r.BusBandwidthRange = r.SecondsRange.Rate(r.BusBandwidth * r.Seconds)
	}
	return r
}

// finish prints the table and writes the JSON file.
func (o *allreduceOptions) finish(e *cli.Env, r allreduceReport) error {
	r.Transport = o.transport
	if o.spec != nil {
		r.Cluster = o.spec.Name
	}
	printAllreduce(e.Tables, &r, o)
	return e.WriteJSON(o.json, r)
}

func printAllreduce(w io.Writer, r *allreduceReport, o *allreduceOptions) {
	time, where := "modelled s", "cluster "+r.Cluster
	if r.Transport != cli.TransportSim {
		time, where = "measured s", "transport "+r.Transport
	}
	fmt.Fprintf(w, "All-reduce of %d bytes over %d nodes, mapping %s, %s\n", o.bytes, o.nodes, o.mapping, where)
	if o.spec != nil && o.spec.Description != "" {
		fmt.Fprintln(w, o.spec.Description)
	}
	fmt.Fprintln(w)
	space := 0
	for _, row := range r.Results {
		space = widest(space, row.SecondsRange)
	}
	fmt.Fprintf(w, "%-20s %14s%-*s %7s %16s %16s %10s\n", "algorithm", time, space, rangeHeading(space), "steps", "intra bytes", "inter bytes", "bus GB/s")
	for _, row := range r.Results {
		fmt.Fprintf(w, "%-20s %14.6g%-*v %7d %16d %16d %10.4g%v", row.Algorithm, row.Seconds, space, row.SecondsRange, row.Steps, row.IntraBytes, row.InterBytes,
			row.BusBandwidth, row.BusBandwidthRange)
		if row.Picked != "" {
			fmt.Fprintf(w, "  (%s)", row.Picked)
		}
		fmt.Fprintln(w)
	}
	if r.Transport == cli.TransportSim {
		fmt.Fprintf(w, "\n%s\n", aboutMessages(r.Cluster))
	}
	if m := r.Memory; m != nil {
		fmt.Fprintf(w, "\nReading and writing every array once, %d bytes, takes %.6g s: %.4g GB/s of memory, of which the fastest sum (%s) reaches %.0f %%.\n",
			m.Bytes, m.Seconds, m.Bandwidth, m.Fastest, 100*m.Share)
	}
}
