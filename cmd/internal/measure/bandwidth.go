package measure

import (
	"flag"
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"github.com/swcaffe/swcaffe/topology"
)

// Bandwidth is the command bandwidth.
var Bandwidth = cli.Command{
	Name:     "bandwidth",
	Synopsis: "micro-benchmarks of a modelled machine's DMA or a cluster's links",
	Args:     "-machine NAME|FILE [-cpes LIST] [-core_groups N] [-offset N] [-rma] | -cluster NAME|FILE, [-bytes LIST] [-csv FILE] [-json FILE]",
	Example:  "swcaffe bandwidth -machine sw26010 -cpes 16,64 -bytes 128,256,...,32768",
	Help: `Runs micro-benchmarks on the model of a machine or of a cluster and prints GB/s by size.

With -machine, some CPEs of a core group each make one DMA request and wait for it: a contiguous request of the given size, and a request
of half an LDM in blocks of this size. Blocks start anywhere on average, or with -offset that many bytes after a transaction boundary.
-rma measures requests between two CPEs instead, on machines that have them. With -cluster, two nodes of a supernode send each other messages of the given size, then all
nodes of one supernode and those of another. They send in one direction, and in both at once; of both, the sum is printed. A figure
without a meaning is a dash (an empty cell in the -csv file, null in the -json file).

-bytes and -cpes are lists in which "..." continues the sequence before it: 4,8,...,1024 doubles.`,
	Do: cli.With(bandwidthFlags, bandwidth),
}

func bandwidthFlags(fs *flag.FlagSet, o *bandwidthOptions) {
	cli.StringVar(fs, &o.machine, "machine", "", "the machine: a machine `FILE`, or "+strings.Join(modelledMachines(), ", "), cli.OneOf(modelledMachines()...).OrFiles(cli.Prototxt))
	cli.StringVar(fs, &o.cluster, "cluster", "", "the cluster: a cluster `FILE`, or "+strings.Join(topology.ClusterNames(), ", "), cli.OneOf(topology.ClusterNames()...).OrFiles(cli.Prototxt))
	fs.StringVar(&o.byteList, "bytes", "", "the sizes: a `LIST` (default: powers of two)")
	fs.StringVar(&o.cpeList, "cpes", "", "-machine: how many CPEs of a core group transfer at once: a `LIST` (default: one, and whole rows, doubling)")
	fs.IntVar(&o.coreGroups, "core_groups", 1, "-machine: the number of core groups that transfer at the same time; figures are their total (0: all)")
	fs.IntVar(&o.offset, "offset", -1, "-machine: where every block starts in memory, in bytes after a transaction boundary (-1: the mean over all places)")
	fs.BoolVar(&o.rma, "rma", false, "-machine: remote access between two CPEs' LDM in the place of DMA")
	cli.OutputVar(fs, &o.csv, "csv", "write the table to `FILE`, separated by commas")
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE` as well")
}

type bandwidthOptions struct {
	machine, cluster, byteList, cpeList, csv, json string
	coreGroups, offset                             int
	rma                                            bool

	bytes []int // nil: default sizes for the machine or cluster
}

// bandwidthReport is the content of the -json file.
type bandwidthReport struct {
	Machine    string         `json:"machine,omitempty"`
	Cluster    string         `json:"cluster,omitempty"`
	CoreGroups int            `json:"core_groups,omitempty"`
	Offset     *int           `json:"offset,omitempty"`
	Results    []bandwidthRow `json:"results"`
}

// bandwidthRow holds the figures for one size, in GB/s: of a machine's DMA or RMA or of a cluster's links.
type bandwidthRow struct {
	CPEs  int       `json:"cpes,omitempty"`
	Bytes int       `json:"bytes"`
	DMA   *dmaRow   `json:"dma,omitempty"`
	RMA   *rmaRow   `json:"rma,omitempty"`
	Links *linksRow `json:"links,omitempty"`
}

type dmaRow struct {
	Get       float64  `json:"get_gbytes_per_s"`
	Put       float64  `json:"put_gbytes_per_s"`
	BlocksGet *float64 `json:"blocks_get_gbytes_per_s"`
	BlocksPut *float64 `json:"blocks_put_gbytes_per_s"`

	// Ranges over the machine's published curves, where they differ.
	GetRange       trust.Range `json:"get_gbytes_per_s_range,omitzero"`
	PutRange       trust.Range `json:"put_gbytes_per_s_range,omitzero"`
	BlocksGetRange trust.Range `json:"blocks_get_gbytes_per_s_range,omitzero"`
	BlocksPutRange trust.Range `json:"blocks_put_gbytes_per_s_range,omitzero"`
}

type linksRow struct {
	One        *float64 `json:"one_way_gbytes_per_s"`
	Both       *float64 `json:"both_ways_gbytes_per_s"`
	AcrossOne  *float64 `json:"across_one_way_gbytes_per_s"`
	AcrossBoth *float64 `json:"across_both_ways_gbytes_per_s"`
}

func bandwidth(e *cli.Env, o *bandwidthOptions) (err error) {
	switch {
	case o.machine == "" && o.cluster == "":
		return cli.Usagef("need a machine or a cluster: -machine NAME|FILE or -cluster NAME|FILE")
	case o.machine != "" && o.cluster != "":
		return cli.Usagef("-machine and -cluster: give one of them")
	case o.machine == "" && o.cpeList != "":
		return cli.Usagef("-cpes is for -machine")
	case o.machine == "" && (o.rma || o.offset != -1):
		return cli.Usagef("-rma and -offset are for -machine")
	case o.rma && (o.cpeList != "" || o.offset != -1 || o.coreGroups != 1):
		return cli.Usagef("-rma measures one pair of CPEs: leave out -cpes, -offset and -core_groups")
	}
	if o.byteList != "" {
		if o.bytes, err = parseNumbers(o.byteList); err != nil {
			return cli.Usagef("-bytes %w", err)
		}
		if last := o.bytes[len(o.bytes)-1]; int64(last) > maxBytes {
			return cli.Usagef("-bytes %d: %d is the most", last, maxBytes)
		}
	}
	run := o.links
	switch {
	case o.rma:
		run = o.remote
	case o.machine != "":
		run = o.dma
	}
	r, title, err := run()
	if err != nil {
		return err
	}
	printBandwidth(e.Tables, r, title)
	if o.csv != "" {
		if err := e.WriteFile(o.csv, bandwidthCSV(r)); err != nil {
			return err
		}
	}
	return e.WriteJSON(o.json, r)
}

// links measures the links of a cluster.
func (o *bandwidthOptions) links() (*bandwidthReport, string, error) {
	spec, err := topology.LoadSpec(o.cluster)
	if err != nil {
		return nil, "", cli.FlagError("cluster", err)
	}
	sizes := o.bytes
	if sizes == nil {
		sizes = doubling(1<<10, 4<<20)
	}
	r := &bandwidthReport{Cluster: spec.Name}
	for _, size := range sizes {
		var row linksRow
		for _, f := range []struct {
			figure       **float64
			across, both bool
		}{{&row.One, false, false}, {&row.Both, false, true}, {&row.AcrossOne, true, false}, {&row.AcrossBoth, true, true}} {
			if q := spec.NodesPerSupernode; f.across && spec.Nodes < 2*q || !f.across && min(q, spec.Nodes) < 2 {
				continue
			}
			v, err := topology.LinkTest{Bytes: size, Across: f.across, Both: f.both}.Run(spec)
			if err != nil {
				return nil, "", err
			}
			v /= 1e9
			*f.figure = &v
		}
		r.Results = append(r.Results, bandwidthRow{Bytes: size, Links: &row})
	}
	title := "Links of " + spec.Name + ", modelled GB/s between two nodes of a supernode"
	if spec.Nodes >= 2*spec.NodesPerSupernode {
		title += fmt.Sprintf(", and between the %d pairs across two supernodes", spec.NodesPerSupernode)
	}
	return r, title + "\nno ranges: these are the cluster file's figures, inputs of the model", nil
}

// doubling returns from, 2 from, 4 from ... up to most.
func doubling(from, most int) (list []int) {
	for ; from <= most; from *= 2 {
		list = append(list, from)
	}
	return list
}
