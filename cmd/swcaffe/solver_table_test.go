package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// given is what a row of docs/solver.md gives to a command: fields of the solver and of the net, and flags. The probe is a fault that the command
// meets if and only if the row counts: a layer, under a rule, whose bottom does not exist, or a file that does not exist.
type given struct {
	solver, net string
	rule        string // of the faulty layer; "": there is none
	flags       string
	warns       bool // where it has no effect, the log says so
}

const (
	gone  = "gone.caffemodel"
	high  = "min_level: 2"
	stage = `stage: "s"`
)

// solverRows are the rows of the table for solvers.
var solverRows = map[string]given{
	"`train_state { stage }`":                 {solver: `train_state { stage: "s" }`, rule: stage},
	"`train_state { level }`":                 {solver: `train_state { level: 2 }`, rule: high, warns: true},
	"`train_state { phase }`":                 {solver: `train_state { phase: TEST } test_state { phase: TRAIN }`, rule: `phase: TEST`},
	"`state { stage }` in the training net":   {net: `state { stage: "s" }`, rule: `phase: TRAIN ` + stage},
	"`state { level }` in the training net":   {net: `state { level: 2 }`, rule: `phase: TRAIN ` + high, warns: true},
	"`-stage`, `stages=` in the training net": {flags: "-stage=s", rule: `phase: TRAIN ` + stage},
	"`-level`, `level=` in the training net":  {flags: "-level=2", rule: `phase: TRAIN ` + high},
	"`test_state { stage }`":                  {solver: `test_state { stage: "s" }`, rule: `phase: TEST ` + stage},
	"`test_state { level }`":                  {solver: `test_state { level: 2 }`, rule: `phase: TEST ` + high},
	"`state { level }` in a test net":         {net: `state { level: 2 }`, rule: `phase: TEST ` + high},
	"`-stage`, `stages=` in a test net":       {flags: "-stage=s", rule: `phase: TEST ` + stage},
	"`-level`, `level=` in a test net":        {flags: "-level=2", rule: `phase: TEST ` + high},
	"`-phase`":                                {flags: "-phase=TEST", rule: `phase: TEST ` + stage, warns: true},
	"`weights`":                               {solver: `weights: "` + gone + `"`},
	"`weights` beside `-weights`":             {solver: `weights: "` + gone + `"`, flags: "-weights=w_iter_1.caffemodel"},
	"`weights` beside `-snapshot`":            {solver: `weights: "` + gone + `"`, flags: "-snapshot=w_iter_1.solverstate"},
	"`-weights`":                              {flags: "-weights=" + gone},
	"`-snapshot`":                             {flags: "-snapshot=" + gone},
}

// netRows are those of the table for nets.
var netRows = map[string]given{
	"`state { stage }`":      {net: `state { stage: "s" }`, rule: stage},
	"`state { level }`":      {net: `state { level: 2 }`, rule: high, warns: true},
	"`-stage`, `stages=`":    {flags: "-stage=s", rule: stage},
	"`-level`, `level=`":     {flags: "-level=2", rule: high},
	"`-phase`, `phase=`":     {flags: "-phase=TEST", rule: "phase: TEST"},
	"`-weights`, `weights=`": {flags: "-weights=" + gone},
	"`-snapshot`":            {flags: "-snapshot=" + gone, warns: true},
}

// tableCommands are the command lines of the columns.
var tableCommands = map[string]string{
	"`train`": "train -solver=FILE", "`train -workers 2`": "train -solver=FILE -workers=2", "`finetune`": "finetune -solver=FILE WEIGHTS",
	"`lr_find`": "lr_find -solver=FILE -iterations=10", "`check`": "check FILE",
	"`test`": "test -model=FILE -iterations=1 WEIGHTS", "`time`": "time -model=FILE -iterations=1", "`verify`": "verify -model=FILE",
	"`explore`": "explore -model=FILE -vary=ldm_kb=64 -batch=2", "`scale`": "scale -model=FILE -nodes=1 -batch=2", "`draw_net`": "draw_net FILE n.svg -shapes",
	"`extract_features`": "extract_features -model=FILE -blobs=y -dbs=out_db -batches=1 WEIGHTS", "`export_onnx`": "export_onnx -model=FILE -o=n.onnx WEIGHTS",
}

// TestSolverTable runs every command of docs/solver.md for every row. (Python's columns are held by python/tests/test_solver_table.py.)
func TestSolverTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/solver.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("GLOG_minloglevel", "1")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const fields = `net: "n.prototxt" base_lr: 0.001 lr_policy: "fixed" max_iter: 1 test_iter: 1 test_interval: 1 snapshot_prefix: "w" random_seed: 1 `
	write("n.prototxt", tableTrained)
	write("s.prototxt", fields)
	if code, log := runLine("train -solver=s.prototxt"); code != 0 {
		t.Fatal(log)
	}
	var columns []string
	cells := 0
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.Trim(line, "|\n "), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch {
		case !strings.HasPrefix(line, "| "):
			continue
		case row[0] == "given":
			columns = row
			continue
		}
		solver, rows := true, solverRows
		if columns[1] != "`train`" {
			solver, rows = false, netRows
		}
		g, known := rows[row[0]]
		if !known {
			t.Errorf("row %s is not known", row[0])
		}
		file, probe := "n.prototxt", ""
		if g.rule != "" {
			probe = `layer { name: "probe" type: "ReLU" bottom: "nowhere" top: "p" include { ` + g.rule + " } }\n"
		}
		if solver {
			file = "s.prototxt"
			write("s.prototxt", fields+g.solver)
			write("n.prototxt", g.net+"\n"+tableTrained+probe)
		} else {
			write("n.prototxt", g.net+"\n"+tableDeployed+probe)
		}
		for i, want := range row[1:] {
			if columns[1+i] != "Python" {
				checkCell(t, columns[1+i], row[0], tableLine(columns[1+i], file, g.flags), want, g.warns)
				cells++
			}
		}
	}
	if cells < 150 {
		t.Errorf("%d cells were run", cells)
	}
}

// tableTrained and tableDeployed are the nets with which the table is run.
const (
	tableTrained = `layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 2 dim: 4 } shape { dim: 2 dim: 3 } data_filler { value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
`
	tableDeployed = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
`
)

// tableLine returns the command line of a cell. A command that needs weights gets some, if the flags give none.
func tableLine(column, file, flags string) string {
	weights := "-weights=w_iter_1.caffemodel"
	if strings.Contains(flags, "-weights") || strings.HasPrefix(column, "`finetune") && strings.Contains(flags, "-snapshot") {
		weights = ""
	}
	return strings.NewReplacer("FILE", file, "WEIGHTS", weights).Replace(tableCommands[column]) + " " + flags
}

// checkCell runs the command line of a cell.
func checkCell(t *testing.T, column, row, line, want string, warns bool) {
	t.Helper()
	os.RemoveAll("out_db")
	code, log := runLine(line)
	met := regexp.MustCompile(`layer "probe"|` + gone).MatchString(log)
	switch want {
	case "counts":
		if code != 1 || !met {
			t.Errorf("%s of %s has no effect: swcaffe %s: exit code %d\n%s", row, column, line, code, log)
		}
	case "no":
		if code != 0 || met && !strings.Contains(row, "snapshot") {
			t.Errorf("%s of %s has an effect: swcaffe %s: exit code %d\n%s", row, column, line, code, log)
		}
		if warns && !regexp.MustCompile(`has level 2, but level 0 counts|has no effect`).MatchString(log) {
			t.Errorf("%s of %s: no word that it has no effect: swcaffe %s\n%s", row, column, line, log)
		}
	case "-":
		if unused := strings.Contains(log, "has no effect"); code != 2 && !unused {
			t.Errorf("%s of %s is taken: swcaffe %s: exit code %d\n%s", row, column, line, code, log)
		}
	default:
		t.Errorf("%s of %s: %q", row, column, want)
	}
}

// runLine runs a command line and returns its exit code, and all that it prints.
func runLine(line string) (code int, printed string) {
	var out bytes.Buffer
	code = commands.Run(&cli.Env{Log: glog.New(&out), Stdout: &out, Stderr: &out}, strings.Fields(line))
	return code, out.String()
}
