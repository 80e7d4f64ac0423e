// Command run checks random nets and random kernel problems against a reference, on every vector level of this computer and on
// many numbers of threads. It exits with 1 if a problem fails.
//
//	go run ./internal/testkit/randomtest/run -seconds 60
//	go run ./internal/testkit/randomtest/run -kind net -problem failures/net-avx2-1-55.txt
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest/kernels"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest/nets"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	kinds := append(kernels.Kinds(), nets.Kinds()...)
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	var (
		child   = flag.Bool("child", false, "check the problems that come on standard input")
		only    = flag.String("kind", "", "the `KINDS` to draw, separated by commas: "+strings.Join(names, ", ")+" (default: all)")
		seed    = flag.Uint64("seed", 1, "where random numbers begin; 0 takes the time")
		count   = flag.Int("count", 0, "problems of each kind (0: no bound)")
		seconds = flag.Float64("seconds", 0, "how long to go on (0: no bound)")
		cpu     = flag.Float64("cpu_seconds", 0, "how much processor time the checks may take in sum, however long that lasts (0: no bound)")
		timeout = flag.Duration("timeout", 2*time.Minute, "when a problem is taken to hang")
		jobs    = flag.Int("jobs", runtime.NumCPU(), "processes that check at the same time")
		program = flag.String("exec", "", "the `PROGRAM`, with arguments, that checks problems: this one for another processor, behind its emulator")
		levels  = flag.String("levels", strings.Join(isa.Levels(), ","), "levels of vector instructions, separated by commas")
		dir     = flag.String("dir", "failures", "the folder for failing problems")
		most    = flag.Int("most", 10, "failures after which to end")
		index   = flag.Int("index", -1, "print the problem of this `NUMBER`, as drawn, and check it alone, of the one kind that -kind names")
		machine = flag.String("machine", "", "draw kernel problems on this modelled machine alone: "+strings.Join(kernels.Machines, ", "))
		problem = flag.String("problem", "", "check the problem in this `FILE` alone, of the one kind that -kind names")
	)
	flag.Parse()
	if *child {
		return randomtest.Serve(kinds, os.Stdin, os.Stdout)
	}
	if err := nets.CheckZoo(); err != nil {
		return err
	}
	if *machine != "" {
		if !slices.Contains(kernels.Machines, *machine) {
			return fmt.Errorf("-machine %s: the machines are %s", *machine, strings.Join(kernels.Machines, ", "))
		}
		kinds = kernels.On(*machine)
	}
	if *only != "" {
		chosen := strings.Split(*only, ",")
		kinds = slices.DeleteFunc(kinds, func(k randomtest.Kind) bool { return !slices.Contains(chosen, k.Name) })
		if len(kinds) != len(chosen) {
			return fmt.Errorf("-kind %s: the kinds are %s", *only, strings.Join(names, ", "))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := randomtest.Options{
		Kinds: kinds, Seed: *seed, Count: *count, For: time.Duration(*seconds * float64(time.Second)),
		CPU: time.Duration(*cpu * float64(time.Second)), Timeout: *timeout, Jobs: *jobs, Levels: strings.Split(*levels, ","),
		Program: strings.Fields(*program), Dir: *dir, Out: os.Stdout, Most: *most,
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	if *problem != "" {
		return randomtest.Repeat(ctx, o, *problem)
	}
	if *index >= 0 {
		return randomtest.CheckOne(ctx, o, *index)
	}
	failures, err := randomtest.Run(ctx, o)
	if err == nil && len(failures) > 0 {
		err = fmt.Errorf("%d problems failed", len(failures))
	}
	return err
}
