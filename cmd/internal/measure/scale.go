package measure

import (
	"flag"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/scaling"
	"github.com/swcaffe/swcaffe/topology"
)

// Scale is the command scale.
var Scale = cli.Command{
	Name:     "scale",
	Synopsis: "model training on many nodes: speed-up, efficiency, communication share",
	Args: "-model FILE [-batch B] [-machine NAME|FILE] [-cluster NAME|FILE] -nodes 1,2,4,...,1024 [-strategy S] [-allreduce A] [-tau T]" +
		" [-core_groups P] [-scaling weak|strong] [-json FILE] [-plot FILE]",
	Example: "swcaffe scale -model models/alexnet_bn/train_val.prototxt -batch 64,256 -nodes 1,2,4,...,1024 -plot scale.svg",
	Help: `Models the time of a training iteration on each number of nodes. It is the sum of three parts: a node's computation, by the
machine model; the simulated collective or exchange with a server, as far as it does not overlap with computation; and reading
images from the cluster's striped file system, as far as it takes longer than both. Nothing is measured.

-nodes is a list in which "..." continues the sequence before it: 1,2,4,...,1024 doubles. With -scaling weak every node has
a batch of B images; with strong all nodes share one. -batch, -strategy and -allreduce may be lists; every combination gives a
table and a curve. -plot draws speed-up, efficiency and communication share.`,
	Do: cli.With(scaleFlags, scale),
}

func scaleFlags(fs *flag.FlagSet, o *scaleOptions) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	fs.StringVar(&o.batches, "batch", "", "the number of images of an iteration, or a list (default: as the net says)")
	cli.StringVar(fs, &o.software, "software", cpe.Softwares()[0], "whose kernels run on each node: "+strings.Join(cpe.Softwares(), ", "), cli.OneOf(cpe.Softwares()...))
	cli.StringVar(fs, &o.machine, "machine", "sw26010", "the modelled machine of each node: a `NAME` or a machine file", cli.OneOf(modelledMachines()...).OrFiles(cli.Prototxt))
	fs.IntVar(&o.coreGroups, "core_groups", 0, "the number of a node's core groups that share the work (0: all); if they share a memory, as on"+
		" knl7250, the number of parts that a node is divided into, each with its own weights and data")
	fs.Float64Var(&o.dataMB, "data_mb", 0, "the data that every part of a divided node keeps in memory, in 2^20 bytes")
	cli.StringVar(fs, &o.cluster, "cluster", "taihulight", "a cluster's `NAME`, or a cluster file", cli.OneOf(topology.ClusterNames()...).OrFiles(cli.Prototxt))
	fs.StringVar(&o.nodeList, "nodes", "", "the numbers of nodes: a `LIST`, as 1,2,4,...,1024")
	cli.StringVar(fs, &o.mapping, "mapping", string(topology.Block), "how consecutive nodes are placed: block or round_robin", cli.OneOf("block", "round_robin"))
	cli.StringVar(fs, &o.strategies, "strategy", string(scaling.Sync), "how workers train together, or a list: "+strings.Join(scaling.Strategies(), ", "), cli.OneOf(scaling.Strategies()...).Listed())
	cli.StringVar(fs, &o.allReduces, "allreduce", "", "the collective, or a list: "+strings.Join(scaling.AllReduces(), ", ")+" (default: the strategy's own)", cli.OneOf(scaling.AllReduces()...).Listed())
	fs.IntVar(&o.tau, "tau", 1, "EASGD family: the number of iterations between two communications")
	fs.Float64Var(&o.bucketMB, "bucket_mb", 0, "sync: sum gradients in buckets of at least so many MB (1e6 bytes) beside the backward pass; 0: in one message after it")
	cli.StringVar(fs, &o.scaling, "scaling", "weak", "weak (a batch on every node) or strong (one batch on all)", cli.OneOf("weak", "strong"))
	fs.Float64Var(&o.imageBytes, "image_bytes", 0, "the bytes read for an image (0: the net's input in float32)")
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE` as well")
	cli.OutputVar(fs, &o.plot, "plot", "draw the curves to `FILE`, .svg or .png")
	o.state.Register(fs)
}

type scaleOptions struct {
	model, batches, software, machine, cluster, nodeList, mapping, strategies, allReduces, scaling, json, plot string

	coreGroups, tau      int
	bucketMB, imageBytes float64
	dataMB               float64
	state                cli.StateFlags

	nodes    []int
	placing  topology.Mapping
	spec     topology.Spec
	node     cpe.Spec
	modelled nodeModel
}

// nodeModel models the computation of one node.
type nodeModel interface {
	Batch() int // the net's batch size
	ImageBytes() float64
	Compute(batch int) (scaling.Compute, error)
	Report(batch int) (*modeltime.Report, error)
}

// scaleReport is the content of the -json file.
type scaleReport struct {
	Model       string     `json:"model"`
	Machine     string     `json:"machine"`
	CoreGroups  int        `json:"core_groups"`
	Cluster     string     `json:"cluster"`
	Mapping     string     `json:"mapping"`
	Scaling     string     `json:"scaling"`
	Tau         int        `json:"tau"`
	BucketMB    float64    `json:"bucket_mb"`
	WeightBytes int64      `json:"weight_bytes"`
	ImageBytes  float64    `json:"image_bytes"`
	Results     []scaleRow `json:"results"`
}

// scaleRow is one point of a curve: its figures for one number of nodes.
type scaleRow struct {
	Strategy  string `json:"strategy"`
	AllReduce string `json:"allreduce,omitempty"`
	Batch     int    `json:"batch"`
	scaling.Point
}

func scale(e *cli.Env, o *scaleOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.read(e); err != nil {
		return err
	}
	curves, err := o.curves()
	if err != nil {
		return err
	}
	r := scaleReport{
		Model: o.model, Machine: o.node.Name, CoreGroups: o.node.CoreGroups, Cluster: o.spec.Name, Mapping: o.mapping,
		Scaling: o.scaling, Tau: o.tau, BucketMB: o.bucketMB, ImageBytes: o.imageBytes,
	}
	for i := range curves {
		if err := o.run(e, &curves[i]); err != nil {
			return err
		}
		r.Results = append(r.Results, curves[i].rows...)
	}
	if r.WeightBytes, err = o.memory(e, curves); err != nil {
		return err
	}
	printScale(e.Tables, &r, curves)
	if o.plot != "" {
		if err := plotScale(e, o, curves); err != nil {
			return err
		}
	}
	return e.WriteJSON(o.json, r)
}

// check validates the flags, apart from the contents of files.
func (o *scaleOptions) check() (err error) {
	switch {
	case o.model == "":
		return cli.Usagef("need a model definition to scale: -model FILE")
	case o.scaling != "weak" && o.scaling != "strong":
		return cli.Usagef("-scaling %q: must be weak or strong", o.scaling)
	case o.tau < 1:
		return cli.Usagef("-tau %d: at least one iteration lies between two communications", o.tau)
	case !cli.IsSize(o.bucketMB):
		return cli.Usagef("-bucket_mb %g: must be a size, or 0", o.bucketMB)
	case !cli.IsSize(o.dataMB):
		return cli.Usagef("-data_mb %g: must be a size, or 0", o.dataMB)
	case !(o.imageBytes >= 0 && o.imageBytes < 1e15):
		return cli.Usagef("-image_bytes %g: must be a size, or 0", o.imageBytes)
	case o.nodeList == "":
		return cli.Usagef("-nodes: need the numbers of nodes, as 1,2,4,...,1024")
	}
	if o.nodes, err = parseNumbers(o.nodeList); err != nil {
		return cli.Usagef("-nodes: %w", err)
	}
	if o.placing, err = topology.ParseMapping(o.mapping); err != nil {
		return cli.Usagef("-mapping: %w", err)
	}
	if o.plot != "" {
		if _, err := figure.Format(o.plot); err != nil {
			return cli.Usagef("-plot %w", err)
		}
	}
	return nil
}

// read loads the cluster, the machine and the net.
func (o *scaleOptions) read(e *cli.Env) (err error) {
	if o.spec, err = topology.LoadSpec(o.cluster); err != nil {
		return cli.FlagError("cluster", err)
	}
	if o.node, err = cpe.Load(o.machine); err != nil {
		return cli.FlagError("machine", err)
	}
	if o.node.Native() {
		return cli.Usagef("-machine %s is this computer, which is measured, not modelled; name a modelled one", o.machine)
	}
	file, err := cli.ReadNet(e, o.model, &o.state)
	if err != nil {
		return err
	}
	err = o.divide(file, modeltime.Options{Spec: o.node, Mode: cpe.CostOnly, State: o.state.StateOver(file, caffepb.Phase_TRAIN)})
	if err == nil && o.imageBytes == 0 {
		o.imageBytes = o.modelled.ImageBytes()
	}
	return err
}

// divide makes the model of a node. The node uses some of its core groups or, if they share their memory, is divided into parts.
func (o *scaleOptions) divide(file *swproto.Net, model modeltime.Options) (err error) {
	inParts := o.node.Memory.Shared && o.coreGroups > 0
	if o.dataMB > 0 && !inParts {
		return cli.Usagef("-data_mb %g is for nodes that are divided: -core_groups on a machine whose core groups share a memory", o.dataMB)
	}
	flags := modelFlags{software: o.software}
	if !inParts {
		flags.coreGroups = o.coreGroups
	}
	if o.node, err = flags.spec(o.node, 0); err != nil {
		return err
	}
	model.Spec = o.node
	if !inParts {
		o.modelled, err = scaling.NewMachine(file, model)
		return err
	}
	parts, err := scaling.NewPartition(file, model, o.coreGroups, int64(o.dataMB*(1<<20)))
	if err != nil {
		return cli.Usagef("-core_groups %d: %w", o.coreGroups, err)
	}
	o.modelled, o.node.CoreGroups = parts, o.coreGroups
	return nil
}

// memory returns the size of the weights, and warns if a node's part of the net does not fit.
func (o *scaleOptions) memory(e *cli.Env, curves []scaleCurve) (weights int64, err error) {
	for _, c := range curves {
		most := 0
		for _, row := range c.rows {
			most = max(most, row.NodeBatch)
		}
		r, err := o.modelled.Report(most)
		if err != nil {
			return 0, err
		}
		t := &r.Total
		if need := t.ParameterBytes + t.ActivationBytes; t.MemoryBytes > 0 && need > t.MemoryBytes {
			e.Log.Warnf("batch %d: a node needs %d MB and has %d MB", most, need>>20, t.MemoryBytes>>20)
		}
	}
	c, err := o.modelled.Compute(curves[0].rows[0].NodeBatch)
	return c.WeightBytes(), err
}
