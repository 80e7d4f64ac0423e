// Modelfigures prints tables for the READMEs of the models that need no photographs. With -write it writes them into the READMEs.
// The figures come from the logs of scripts/train_zoo.sh, which calls this program. Every figure of such a table has therefore
// been printed by a run, and is shown with its range over several seeds.
//
//	go run ./internal/app/modelfigures -runs zoo_runs/runs -write models/lenet/solver.prototxt
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

func main() {
	runs := flag.String("runs", "", "the `FOLDER` of the runs")
	write := flag.Bool("write", false, "write the tables into models/*/README.md")
	list := flag.Bool("solvers", false, "list the solvers of all tables")
	flag.Parse()
	if err := figuresOf(flag.Args(), *runs, *write, *list); err != nil {
		fmt.Fprintln(os.Stderr, "modelfigures:", err)
		os.Exit(1)
	}
}

func figuresOf(solvers []string, runs string, write, list bool) error {
	if list {
		fmt.Println(strings.Join(allSolvers(), "\n"))
		return nil
	}
	if runs == "" || len(solvers) == 0 {
		return errors.New("usage: modelfigures -runs FOLDER [-write] SOLVER..., or modelfigures -solvers")
	}
	for _, solver := range solvers {
		if err := printSolver(solver, runs); err != nil {
			return err
		}
		if !write {
			continue
		}
		if err := tableOf(solver).write("", runs); err != nil {
			return err
		}
	}
	return nil
}

func allSolvers() []string {
	var all []string
	for i := range tables {
		for _, r := range tables[i].rows {
			all = append(all, tables[i].path(r))
		}
	}
	return all
}

// tableOf returns the table that contains a solver, or nil.
func tableOf(solver string) *table {
	for i := range tables {
		if _, ok := tables[i].with(solver); ok {
			return &tables[i]
		}
	}
	return nil
}

// printSolver prints a solver's part of its table.
func printSolver(solver, runs string) error {
	t := tableOf(solver)
	if t == nil {
		return fmt.Errorf("%s is in no table; these are: %s", solver, strings.Join(allSolvers(), " "))
	}
	t, _ = t.with(solver)
	f, missing, err := t.collect("", runs)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: no run of %s has finished", runs, strings.Join(missing, ", "))
	}
	fmt.Printf("%s\n\n%s\n", solver, t.markdown(f))
	return nil
}

// write replaces the table in its README below root. If a run is missing, it reports the run and leaves the README unchanged.
func (t *table) write(root, runs string) error {
	f, missing, err := t.collect(root, runs)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		fmt.Printf("%s stays as it is: no run of %s has finished\n\n", t.readme(), strings.Join(missing, ", "))
		return nil
	}
	text, err := os.ReadFile(root + t.readme())
	if err != nil {
		return err
	}
	before, _, after, err := cut(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", t.readme(), err)
	}
	return swproto.WriteFileAtomic(root+t.readme(), func(f2 *os.File) error {
		_, err := f2.WriteString(before + t.markdown(f) + after)
		return err
	})
}
