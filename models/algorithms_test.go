package models_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of algorithms in testdata/algorithms anew; read the diff before you commit it")

// vectorLevels are the columns of this computer in the tables, one for each vector level.
var vectorLevels = []string{"go", "avx2", "avx512"}

// TestAlgorithms compares the algorithm that every layer's kernel has chosen, in each direction, with the tables in testdata/algorithms: for
// every net of the zoo and those beside the tables, on every vector level of this computer and on every modelled machine. Run it with -rewrite
// after a change that is meant to change a choice, and read the difference. Rows of vector levels that this computer has not stay as they are. Nets are planned, none is run.
func TestAlgorithms(t *testing.T) {
	here, err := filepath.EvalSymlinks("models")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(here), "testdata", "algorithms")
	missing := missingLevels()
	if len(missing) > 0 {
		t.Logf("not compared, and not written, since this computer has no such vector level: %s", strings.Join(missing, ", "))
	}
	tables := map[string]*table{}
	for _, c := range allChoices(t) {
		if tables[c.Table] == nil {
			tables[c.Table] = newTable()
		}
		tables[c.Table].add(c)
	}
	compareNames(t, dir, tables)
	if len(missing) == 0 {
		everyAlgorithm(t, filepath.Dir(filepath.Dir(dir)), tables)
	}
	for name, have := range tables {
		file := filepath.Join(dir, name+".txt")
		if *rewrite {
			if text, err := os.ReadFile(file); err == nil {
				if old, err := parseTable(string(text)); err == nil {
					have.take(old, missing)
				}
			}
			if err := os.WriteFile(file, []byte(have.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			have.drop(missing)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := parseTable(string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want.drop(missing)
		if d := differences(have, want); len(d) > 0 {
			t.Errorf("testdata/algorithms/%s.txt: %d choices differ (-rewrite writes them anew):\n%s", name, len(d), strings.Join(d[:min(len(d), 20)], "\n"))
		}
	}
}

// missingLevels are the vector levels that this computer has not.
func missingLevels() []string {
	return slices.DeleteFunc(slices.Clone(vectorLevels), func(l string) bool { return slices.Contains(isa.Levels(), l) })
}

// compareNames checks that every table has its file and every file its table.
func compareNames(t *testing.T, dir string, tables map[string]*table) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if tables[strings.TrimSuffix(filepath.Base(f), ".txt")] != nil {
			continue
		}
		if !*rewrite {
			t.Errorf("%s is of no net", f)
		} else if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// everyAlgorithm checks that some net has every algorithm that a package of kernels names: of Winograd's each with tiles of one form at least.
func everyAlgorithm(t *testing.T, repository string, tables map[string]*table) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "cpe", "kernel", "*", "algorithm.go"))
	if err != nil {
		t.Fatal(err)
	}
	var source []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	var found []string
	for _, table := range tables {
		for _, a := range table.lines {
			found = append(found, strings.Split(a, ",")...)
		}
	}
	named := regexp.MustCompile(`Algorithm = "(.*)"`).FindAllStringSubmatch(string(source), -1)
	if len(named) == 0 {
		t.Fatalf("no names of algorithms in %v", files)
	}
	names := plan.Algorithms()
	for _, m := range named {
		names = append(names, m[1])
	}
	for _, name := range names {
		form := regexp.MustCompile(`^winograd\d`)
		like := regexp.MustCompile("^" + form.ReplaceAllString(regexp.QuoteMeta(name), `winograd\d`) + "(-|$)")
		if !slices.ContainsFunc(found, like.MatchString) {
			t.Errorf("no net has a layer with the algorithm %s: add one to testdata/algorithms", name)
		}
	}
}

// allChoices starts a process for each vector level, since a process has only one level. Each prints its plans for this computer;
// the first also prints those for the modelled machines.
func allChoices(t *testing.T) []choice {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all []choice
	for i, level := range isa.Levels() {
		c := exec.Command(self)
		c.Env = append(os.Environ(), "SWCAFFE_SIMD="+level, rootVariable+"="+root)
		if i == 0 {
			c.Env = append(c.Env, modelledVariable+"=1")
		}
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("planning on vector level %s: %v", level, err)
		}
		var list []choice
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}

// printChoices is what such a process does in place of tests.
func printChoices() int {
	debug.SetGCPercent(400)
	err := os.Chdir(root)
	var list []choice
	if err == nil {
		list, err = planAll(isa.Name(), os.Getenv(modelledVariable) != "")
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
