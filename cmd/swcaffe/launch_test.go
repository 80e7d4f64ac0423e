package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shortSolver trains for two iterations and writes a snapshot.
const shortSolver = `
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 8 dim: 4 } data_filler { type: "gaussian" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
}
base_lr: 0.01 lr_policy: "fixed" max_iter: 2 snapshot_prefix: "s" random_seed: 1
`

// TestWrongLaunches: a process that a launcher has started as one of several, and that cannot join them, ends soon with a message that names the
// launcher and its variables, and writes nothing. The binary of the test is static, and has no swcaffe-mpi to
// hand over to.
func TestWrongLaunches(t *testing.T) {
	binary := lonely(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"solver.prototxt": shortSolver, "hosts": "a slots=2\nb slots=2\n", "list.txt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const train = "train -solver solver.prototxt"
	for _, c := range []struct {
		env, args string
		want      []string
	}{
		{"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1", train, []string{"Open MPI's mpirun", "one of 4", "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1"}},
		{"PRTE_LAUNCHED=1 PMIX_RANK=0", train, []string{"PRRTE", "PMIX_RANK=0", "or alone"}},
		{"PMI_SIZE=2 PMI_RANK=1 MPI_LOCALNRANKS=2", train, []string{"MPICH's Hydra", "one of 2", "PMI_SIZE=2 PMI_RANK=1"}},
		{"PMI_PORT=h:1 PMI_ID=0", train, []string{"-pmi-port", "PMI_ID=0"}},
		{"PMI_SIZE=2 PMI_RANK=0 I_MPI_MPIRUN=mpirun", train, []string{"Intel MPI's mpirun", "PMI_SIZE=2"}},
		{"MV2_COMM_WORLD_SIZE=2 MV2_COMM_WORLD_RANK=0", train, []string{"MVAPICH2", "MV2_COMM_WORLD_SIZE=2"}},
		{"PMI_SIZE=2 PMI_RANK=1", train, []string{"PMI", "PMI_SIZE=2 PMI_RANK=1"}},
		{"PMIX_RANK=1 PMIX_NAMESPACE=n", train, []string{"PMIx", "PMIX_RANK=1"}},
		{"SLURM_NTASKS=2 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2", train, []string{"srun has started", "SLURM_STEP_NUM_TASKS=2"}},
		{"SLURM_NTASKS=2 SLURM_PROCID=1 PMIX_RANK=1", train, []string{"srun has started", "SLURM_NTASKS=2 SLURM_PROCID=1"}},
		{"FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1", train, []string{"flux run", "FLUX_JOB_SIZE=2"}},
		{"JSM_NAMESPACE_SIZE=2 JSM_NAMESPACE_RANK=1", train, []string{"jsrun", "JSM_NAMESPACE_SIZE=2"}},
		{"PALS_RANKID=1 PMI_SIZE=2", train, []string{"PALS", "PALS_RANKID=1"}},
		{"ALPS_APP_PE=1", train, []string{"aprun", "ALPS_APP_PE=1"}},
		{"WORLD_SIZE=2 RANK=0 MASTER_ADDR=localhost", train, []string{"torchrun", "WORLD_SIZE=2 RANK=0", "mpirun -n N"}},
		{"PET_NNODES=3 PET_NODE_RANK=0", train, []string{"Kubeflow Trainer", "PET_NNODES=3"}},
		{"HOROVOD_SIZE=2 HOROVOD_RANK=1", train, []string{"horovodrun", "HOROVOD_SIZE=2"}},
		{"K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_default_hostfile=hosts", train, []string{"MPI operator", "one of 4", "mpirun -n 4"}},
		{"K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_default_hostfile=hosts OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1", train, []string{"one of 4", "in the launcher's pod", "mpirun --hostfile hosts"}},

		// Counts that differ.
		{"", train + " -workers_expected 3", []string{"-workers_expected 3", "alone"}},
		{"JOB_COMPLETION_INDEX=2", train + " -workers_expected 3", []string{"-workers_expected 3", "JOB_COMPLETION_INDEX=2"}},
		{"SLURM_NTASKS=4 SLURM_PROCID=0", train + " -workers_expected 4", []string{"-workers_expected 4", "alone"}}, // srun forgotten in a script of sbatch
		{"", train + " -workers 2 -workers_expected 4", []string{"-workers_expected 4", "there are 2"}},
		{"PMI_SIZE=2 PMI_RANK=0", train + " -workers_expected 4", []string{"-workers_expected 4", "one of 2"}},
		{"PMI_SIZE=2 PMI_RANK=0", train + " -workers_expected 1", []string{"-workers_expected 1", "one of 2"}},
		{"", "test -model m -weights w -workers_expected 2", []string{"-workers_expected 2", "alone"}},

		// Everything that writes, and every way around MPI.
		{"PMI_SIZE=2 PMI_RANK=0", train + " -transport local -workers 2", []string{"PMI_SIZE=2"}},
		{"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1", "convert_imageset . list.txt db", []string{"convert_imageset works in one process", "env -u OMPI_COMM_WORLD_SIZE"}},
		{"SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0", "lr_find -solver solver.prototxt -csv lr.csv", []string{"lr_find works in one process", "SLURM_STEP_NUM_TASKS=2"}},
		{"PMI_SIZE=2 PMI_RANK=0", "dataset digits", []string{"dataset works in one process"}},
		{"PMI_SIZE=2 PMI_RANK=0", "finetune -solver solver.prototxt -weights w", []string{"PMI_SIZE=2"}},
	} {
		before := names(t, dir)
		cmd := exec.Command(binary, strings.Fields(c.args)...)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "PATH=/none"), strings.Fields(c.env)...)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if took := time.Since(start); err == nil || took > 10*time.Second {
			t.Errorf("%s %s: %v after %v\n%s", c.env, c.args, err, took, out)
		}
		for _, want := range c.want {
			if !bytes.Contains(out, []byte(want)) {
				t.Errorf("%s %s: no %q in\n%s", c.env, c.args, want, out)
			}
		}
		if after := names(t, dir); after != before {
			t.Errorf("%s %s: the folder has %s, before %s", c.env, c.args, after, before)
		}
	}
}

// TestRightLaunches: one process alone trains, though variables of launchers and batch systems are there.
func TestRightLaunches(t *testing.T) {
	for _, c := range []struct{ env, args string }{
		{"SLURM_NTASKS=4 SLURM_NPROCS=4 SLURM_PROCID=0 SLURM_JOB_ID=7", ""}, // sbatch
		{"SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0", ""},
		{"OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0", ""},
		{"RANK=3", ""},
		{"JOB_COMPLETION_INDEX=2", ""},
		{"PMIX_RANK=0 PRTE_LAUNCHED=1", "-workers_expected 1"},
		{"", "-workers 2 -workers_expected 2"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(shortSolver), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(buildBinary(t), append([]string{"train", "-solver", "solver.prototxt"}, strings.Fields(c.args)...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), strings.Fields(c.env)...)
		if out, err := cmd.CombinedOutput(); err != nil || !exists(filepath.Join(dir, "s_iter_2.caffemodel")) {
			t.Errorf("%s %s: %v\n%s", c.env, c.args, err, out)
		}
	}
}

// lonely is the binary in a folder without swcaffe-mpi, in which it looks for one first.
func lonely(t *testing.T) string {
	text, err := os.ReadFile(buildBinary(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "swcaffe")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHandOver: as one of several, the static program runs swcaffe-mpi in its place, with the same arguments. Without it, the message says what
// is missing.
func TestHandOver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot replace a process")
	}
	bin := t.TempDir()
	script := "#!/bin/sh\necho \"$*, release $SWCAFFE_RELEASE, rank $PMI_RANK\"\n"
	if err := os.WriteFile(filepath.Join(bin, "swcaffe-mpi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	binary := lonely(t)
	for _, c := range []struct{ path, args, want string }{
		{bin, "train -solver s.prototxt -threads 1", "train -solver s.prototxt -threads 1, release "},
		{bin, "finetune -solver s -weights w", "rank 1"},
		{bin, "convert_imageset . list db", "convert_imageset works in one process"},
		{"/none", "train -solver s.prototxt", "swcaffe-mpi, which joins such processes by MPI, is missing (looked for: "},
	} {
		cmd := exec.Command(binary, strings.Fields(c.args)...)
		cmd.Dir = bin
		cmd.Env = append(os.Environ(), "PMI_SIZE=2", "PMI_RANK=1", "PATH="+c.path+string(os.PathListSeparator)+"/bin")
		if out, _ := cmd.CombinedOutput(); !bytes.Contains(out, []byte(c.want)) {
			t.Errorf("%s with PATH=%s: no %q in\n%s", c.args, c.path, c.want, out)
		}
	}
}

// TestPrintsUnderLaunchers: what only prints runs as one of several.
func TestPrintsUnderLaunchers(t *testing.T) {
	cmd := exec.Command(buildBinary(t), "version")
	cmd.Env = append(os.Environ(), "PMI_SIZE=2", "PMI_RANK=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// names lists the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}
