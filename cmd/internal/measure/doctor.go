package measure

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/topology"
)

// Doctor is the command doctor.
var Doctor = cli.Command{
	Name:     "doctor",
	Synopsis: "look at the computers, ranks and network that a launcher gave",
	Args:     "-cluster [-workers P] [-against NAME|FILE] [-bytes N] [-json FILE]",
	Example:  "swcaffe doctor -cluster -workers 4",
	Help: `Run it in place of the training, by the same mpirun or srun. It prints the launcher and the MPI library, each rank's computer, cores and network
cards, latency and bandwidth from rank 0 to every other rank, one after another, beside those of a model (-against), and the time of every
all-reduce of -bytes. Of these it says which one train's -allreduce auto takes and why, and which was the fastest. Without a launcher the
ranks are -workers P in this process.

The exit code is 1 if something is wrong, as ranks that cannot join or sums that are not right.`,
	Joins: true,
	Do:    cli.With(doctorFlags, doctor),
}

type doctorOptions struct {
	cluster bool
	against string
	workers int
	bytes   int64
	json    string

	model  topology.Spec
	report doctorReport // of rank 0
}

func doctorFlags(fs *flag.FlagSet, o *doctorOptions) {
	fs.BoolVar(&o.cluster, "cluster", false, "look at the workers of a training")
	cli.StringVar(fs, &o.against, "against", "", "the cluster's `NAME` or file whose figures are printed beside the measured ones (default: the model of one computer that auto uses)", cli.OneOf(topology.ClusterNames()...).OrFiles(cli.Prototxt))
	fs.IntVar(&o.workers, "workers", 0, "the number of workers (default 2; under mpirun, the number of its processes)")
	fs.Int64Var(&o.bytes, "bytes", 4_000_000, "the size of the array that is summed: that of a net's weights")
	cli.OutputVar(fs, &o.json, "json", "write the figures to `FILE` as well")
}

func doctor(e *cli.Env, o *doctorOptions) error {
	switch {
	case !o.cluster:
		return cli.Usagef("need what to look at: -cluster")
	case o.bytes < cli.BytesPerValue || o.bytes > maxBytes || o.bytes%cli.BytesPerValue != 0:
		return cli.Usagef("-bytes %d: must be a multiple of %d up to %d", o.bytes, cli.BytesPerValue, maxBytes)
	case o.workers < 0 || o.workers > cli.MaxLocalRanks:
		return cli.Usagef("-workers %d: must be between 1 and %d", o.workers, cli.MaxLocalRanks)
	}
	o.model = cli.ThisComputer
	if o.against != "" {
		var err error
		if o.model, err = topology.LoadSpec(o.against); err != nil {
			return cli.FlagError("against", err)
		}
	}
	o.report.Bytes, o.report.Model = o.bytes, doctorModel{o.model.Name, float64(o.model.Latency), o.model.BytesPerSecond}
	if e.UnderMPI() {
		return cli.InJob(e, o.workers, func(job *topology.MPIJob) (err error) {
			defer pages.Catch(&err)
			pages.Demand(float64(o.bytes) / cli.BytesPerValue)
			all, err := gatherSeats(job)
			if err != nil {
				return err
			}
			if job.Rank() == 0 {
				o.report.Launcher, o.report.MPI = e.World().Among(), job.Library()
				fmt.Fprintf(e.Tables, "%s.\nJoined by %s.\n", o.report.Launcher, o.report.MPI)
				o.printSeats(e, all)
			}
			return o.examine(e, job)
		})
	}
	if o.workers == 0 {
		o.workers = 2
	}
	pages.Demand(float64(o.workers) * float64(o.bytes) / cli.BytesPerValue)
	fmt.Fprintf(e.Tables, "No launcher's variables are set: %d workers in this process.\n", o.workers)
	o.printSeats(e, slices.Repeat([]seat{here()}, o.workers))
	return topology.NewLocal(o.workers).Run(func(t topology.Transport) error { return o.examine(e, t) })
}

// seat is where a rank is.
type seat struct {
	Host  string `json:"computer"`
	PID   int    `json:"process"`
	Cores int    `json:"cores"` // that the process may use
	Cards string `json:"cards"` // network cards with their speeds
}

func here() seat {
	host, _ := os.Hostname()
	return seat{Host: host, PID: os.Getpid(), Cores: runtime.NumCPU(), Cards: cards("/sys/class")}
}

// cards lists the network cards that are up, with their speeds as the system's files under a folder have them.
func cards(sys string) string {
	var all []string
	read := func(path string) string {
		text, _ := os.ReadFile(path)
		return strings.TrimSpace(string(text))
	}
	rates, _ := filepath.Glob(filepath.Join(sys, "infiniband", "*", "ports", "*", "rate"))
	for _, path := range rates {
		parts := strings.Split(path, string(filepath.Separator))
		all = append(all, fmt.Sprintf("%s (%s)", parts[len(parts)-4], read(path)))
	}
	nets, _ := filepath.Glob(filepath.Join(sys, "net", "*"))
	for _, card := range nets {
		name := filepath.Base(card)
		if read(filepath.Join(card, "operstate")) != "up" || name == "lo" {
			continue
		}
		if speed := read(filepath.Join(card, "speed")); speed != "" && !strings.HasPrefix(speed, "-") {
			name += " (" + speed + " Mb/s)"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// gatherSeats returns all ranks' seats on rank 0.
func gatherSeats(job *topology.MPIJob) ([]seat, error) {
	if job.Rank() > 0 {
		text, err := json.Marshal(here())
		if err != nil {
			return nil, err
		}
		return nil, job.Post(0, text)
	}
	all := []seat{here()}
	for rank := 1; rank < job.Size(); rank++ {
		text, err := cli.WaitForMail(job, rank)
		if err != nil {
			return nil, err
		}
		var s seat
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func (o *doctorOptions) printSeats(e *cli.Env, all []seat) {
	hosts := map[string]int{}
	fmt.Fprintf(e.Tables, "\n%5s  %-20s %8s %6s  %s\n", "rank", "computer", "process", "cores", "network cards")
	for rank, s := range all {
		hosts[s.Host]++
		fmt.Fprintf(e.Tables, "%5d  %-20s %8d %6d  %s\n", rank, s.Host, s.PID, s.Cores, s.Cards)
	}
	fmt.Fprintf(e.Tables, "%d ranks on %d computers.\n", len(all), len(hosts))
	o.report.Ranks, o.report.Computers = all, len(hosts)
	told := map[string]bool{}
	for _, s := range all {
		if n := hosts[s.Host]; n > s.Cores && !told[s.Host] {
			told[s.Host] = true
			fmt.Fprintf(e.Tables, "%s has %d cores for %d ranks: they wait for one another.\n", s.Host, s.Cores, n)
		}
	}
}
