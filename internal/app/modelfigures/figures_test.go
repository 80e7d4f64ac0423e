package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// zoo is a repository with a model of two solvers, whose tests are at iterations 0, 500 and 1,000.
func zoo(t *testing.T) (root, runs string) {
	t.Helper()
	root = t.TempDir() + "/"
	put(t, root+"models/m/a.prototxt", "net: \"n\" max_iter: 1000 test_interval: 500 random_seed: 2\n")
	put(t, root+"models/m/b.prototxt", "net: \"n\" max_iter: 500 test_interval: 500 random_seed: 2\n")
	put(t, root+"models/m/README.md", "Head.\n\n"+begin+"| old |\n"+end+"\nTail.\n")
	return root, root + "runs"
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const stamp = "I1123 11:18:08.648696  5286 test.go:52] "

// testLines are the log's lines of a test of two nets. The second's figures are those of the first and 10.
func testLines(iteration int, accuracy, loss float64) string {
	var b strings.Builder
	for net := range 2 {
		fmt.Fprintf(&b, "%sIteration %d, Testing net (#%d)\n", stamp, iteration, net)
		fmt.Fprintf(&b, "%s    Test net output #0: accuracy = %g\n", stamp, accuracy+float64(10*net))
		fmt.Fprintf(&b, "%s    Test net output #1: loss = %g (* 1 = %g loss)\n", stamp, loss+float64(10*net), loss+float64(10*net))
	}
	return b.String()
}

// finished puts a run that has finished, on a processor.
func finished(t *testing.T, runs, solver string, seed int, processor, log string) {
	t.Helper()
	dir := fmt.Sprintf("%s/models/m/%s/seed_%d/", runs, solver, seed)
	put(t, dir+"log", log)
	put(t, dir+"processor", processor+"\n")
}

// TestByIteration: a row for each test, of the second test net and of the training loss, with the figures of the solver's own
// seed; a test that a resumed run repeats counts once; ranges take in all seeds but one whose run has not finished.
func TestByIteration(t *testing.T) {
	root, runs := zoo(t)
	for seed, a := range map[int]float64{1: 0.50, 2: 0.25, 3: 0.75} {
		finished(t, runs, "a", seed, "CPU, go", testLines(0, a/10, 3)+
			stamp+"Iteration 0 (0 iter/s, 1.2s/1 iters), loss = 2.5\n"+stamp+"Iteration 0, lr = 0.1\n"+
			testLines(500, a/2, 2)+stamp+"Iteration 500 (3 iter/s, 9s/100 iters), loss = 1.5\n"+
			testLines(500, a/2, 2)+stamp+"Iteration 500 (3 iter/s, 9s/100 iters), loss = 1.5\n"+
			stamp+"Iteration 1000, loss = "+fmt.Sprint(a*2)+"\n"+testLines(1000, a, 1))
	}
	put(t, runs+"/models/m/a/seed_4/log", testLines(0, 0.99, 9))
	tab := &table{model: "m", rows: []row{{solver: "a.prototxt"}}, columns: []column{
		{head: "accuracy", output: "accuracy", testNet: 1, decimals: 2},
		{head: "training loss", output: trainingLoss, testNet: training, decimals: 1},
	}}
	check(t, tab, root, runs, `Head.

`+begin+`| iteration | accuracy | 3 seeds | training loss | 3 seeds |
|---|---|---|---|---|
| 0 | 10.03 | 10.03 to 10.07 | 2.5 | 2.5 to 2.5 |
| 500 | 10.12 | 10.12 to 10.38 | 1.5 | 1.5 to 1.5 |
| 1,000 | 10.25 | 10.25 to 10.75 | 0.5 | 0.5 to 1.5 |

Figures of seed 2, the solver's own, and their range over the seeds 1 to 3, printed on CPU, go, by
`+"`scripts/train_zoo.sh -seeds 3 -write zoo_runs models/m/a.prototxt`.\n"+
		"Another processor or vector level rounds otherwise and so changes figures, as another seed does; `models/cifar10_resnet8` says how.\n"+
		end+`
Tail.
`)
}

// TestBySolver: a row for each solver's last test, with ranges over the seeds that all solvers have; it says if these have gaps and
// if the runs were on several processors.
func TestBySolver(t *testing.T) {
	root, runs := zoo(t)
	tab := &table{model: "m", rowHead: "solver", rows: []row{{"a.prototxt", "A"}, {"b.prototxt", "B"}}, columns: []column{
		{head: "loss", output: "loss", decimals: 3},
	}}
	for _, seed := range []int{1, 2, 3, 5} {
		finished(t, runs, "a", seed, "CPU, go", testLines(500, 0, 7)+testLines(1000, 0, float64(seed)/8))
	}
	old := "Head.\n\n" + begin + "| old |\n" + end + "\nTail.\n"
	check(t, tab, root, runs, old) // nothing of b
	finished(t, runs, "b", 1, "CPU, go", testLines(500, 0, 4))
	check(t, tab, root, runs, old) // nothing of b with its own seed
	finished(t, runs, "b", 2, "CPU, go", testLines(500, 0, 5))
	finished(t, runs, "b", 5, "Other, avx2", testLines(500, 0, 3))
	check(t, tab, root, runs, `Head.

`+begin+`| solver | loss | 3 seeds |
|---|---|---|
| A | 0.250 | 0.125 to 0.625 |
| B | 5.000 | 3.000 to 5.000 |

Figures of seed 2, the solver's own, and their range over the seeds 1, 2, 5, printed on CPU, go and Other, avx2, by
`+"`scripts/train_zoo.sh -seeds 5 -write zoo_runs models/m/*solver*.prototxt`.\n"+
		"Another processor or vector level rounds otherwise and so changes figures, as another seed does; `models/cifar10_resnet8` says how.\n"+
		end+`
Tail.
`)
}

// TestOneSeed: without other seeds there are no ranges; without a test before the first iteration it has no row.
func TestOneSeed(t *testing.T) {
	for _, first := range []bool{true, false} {
		root, runs := zoo(t)
		log, zero := testLines(0, 0.125, 4), "| 0 | 0.125 |\n"
		if !first {
			put(t, root+"models/m/b.prototxt", "net: \"n\" max_iter: 500 test_interval: 500 random_seed: 2 test_initialization: false\n")
			log, zero = "", ""
		}
		finished(t, runs, "b", 2, "CPU, go", log+testLines(500, 0.5, 4))
		tab := &table{model: "m", rows: []row{{solver: "b.prototxt"}}, columns: []column{accuracy}}
		check(t, tab, root, runs, "Head.\n\n"+begin+"| iteration | test accuracy |\n|---|---|\n"+zero+`| 500 | 0.500 |

Figures of seed 2, the solver's own, printed on CPU, go, by
`+"`scripts/train_zoo.sh -write zoo_runs models/m/b.prototxt`.\n"+
			"Another processor or vector level rounds otherwise and so changes figures, as another seed does; `models/cifar10_resnet8` says how.\n"+
			end+"\nTail.\n")
	}
}

// check writes a table and holds the README, and a second writing of it, against want.
func check(t *testing.T, tab *table, root, runs, want string) {
	t.Helper()
	for range 2 {
		if err := tab.write(root, runs); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(root + tab.readme())
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("the README is\n%s\nwant\n%s", got, want)
		}
	}
}

// TestRefused: a log without a figure, a figure that is no number, solvers of several seeds and a README without marks give errors
// that name them, and the README stays.
func TestRefused(t *testing.T) {
	loss := []column{{head: "loss", output: "loss", decimals: 3}}
	for _, c := range []struct {
		name, path, text, want string
	}{
		{"short log", "runs/models/m/b/seed_2/log", testLines(0, 0, 1), `b.prototxt, seed 2: its log has no "loss" of iteration 500`},
		{"no number", "runs/models/m/b/seed_2/log", testLines(0, 0, 1) + stamp + "Test net output #1: loss = x\n", `log:7: loss = "x" is no number`},
		{"seeds", "models/m/b.prototxt", `net: "n" max_iter: 500 test_interval: 500 random_seed: 3`, "b.prototxt: random_seed is 3, in models/m/a.prototxt 2"},
		{"no end", "models/m/README.md", begin, "models/m/README.md: needs one line"},
		{"two tables", "models/m/README.md", begin + end + begin + end, "models/m/README.md: needs one line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, runs := zoo(t)
			finished(t, runs, "a", 2, "CPU, go", testLines(1000, 0, 1))
			finished(t, runs, "b", 2, "CPU, go", testLines(500, 0, 1))
			put(t, root+c.path, c.text)
			tab := &table{model: "m", rowHead: "solver", rows: []row{{"a.prototxt", "A"}, {"b.prototxt", "B"}}, columns: loss}
			before, err := os.ReadFile(root + tab.readme())
			if err != nil {
				t.Fatal(err)
			}
			if err := tab.write(root, runs); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that has %q", err, c.want)
			}
			if after, err := os.ReadFile(root + tab.readme()); err != nil || string(after) != string(before) {
				t.Errorf("the README has changed to %q, error %v", after, err)
			}
		})
	}
}
