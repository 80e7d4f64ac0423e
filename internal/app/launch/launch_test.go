package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func getter(env string) func(string) (string, bool) {
	values := map[string]string{}
	for _, f := range strings.Fields(env) {
		name, value, _ := strings.Cut(f, "=")
		values[name] = value
	}
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// TestLook: environments as the launchers named leave them.
func TestLook(t *testing.T) {
	hostfile := func(text string) string {
		path := filepath.Join(t.TempDir(), "hostfile")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open, intel := hostfile("a slots=2\nb slots=2 # two\n\n"), hostfile("a:3\nb:3\n")
	for _, c := range []struct {
		env        string
		launcher   string // "": alone
		size, rank int
		mpi        bool
	}{
		{"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3 PMIX_RANK=3 PMIX_NAMESPACE=12", "Open MPI's mpirun", 4, 3, true},
		{"OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0 PMIX_NAMESPACE=12", "", 1, 0, true},
		{"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1", "Open MPI's mpirun", 4, 0, true}, // mpirun reaches hosts by srun
		{"MV2_COMM_WORLD_SIZE=2 MV2_COMM_WORLD_RANK=1", "MVAPICH2's mpirun_rsh", 2, 1, true},
		{"JSM_NAMESPACE_SIZE=6 JSM_NAMESPACE_RANK=5 PMIX_RANK=5", "jsrun", 6, 5, true},
		{"FLUX_JOB_SIZE=8 FLUX_TASK_RANK=2 PMI_SIZE=8 PMI_RANK=2 PMI_FD=4", "flux run", 8, 2, true},
		{"FLUX_URI=local:///run/flux", "", 0, 0, false},
		{"I_MPI_MPIRUN=mpirun PMI_SIZE=2 PMI_RANK=0 MPI_LOCALNRANKS=2 MPI_LOCALRANKID=0", "Intel MPI's mpirun", 2, 0, true},
		{"PMI_FD=6 PMI_SIZE=2 PMI_RANK=1 MPI_LOCALNRANKS=2 MPI_LOCALRANKID=1", "MPICH's Hydra (mpiexec, mpirun)", 2, 1, true},
		{"PMI_FD=6 PMI_SIZE=1 PMI_RANK=0 MPI_LOCALNRANKS=1 MPI_LOCALRANKID=0", "", 1, 0, true},
		{"PMI_SIZE=4 PMI_RANK=1 MPI_LOCALNRANKS=1 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1", "MPICH's Hydra (mpiexec, mpirun)", 4, 1, true},
		{"PMI_PORT=vm:41433 PMI_ID=1 MPI_LOCALRANKID=1", "MPICH's Hydra (mpiexec -pmi-port)", 0, 1, true},
		{"MPI_LOCALNRANKS=2 MPI_LOCALRANKID=1", "an MPICH or Intel MPI launcher", 0, 1, true},
		{"PRTE_LAUNCHED=1 PMIX_RANK=0 PMIX_NAMESPACE=prterun-vm-12@1", "PRRTE (prterun, prun)", 0, 0, true},
		{"SLURM_NTASKS=2 SLURM_NPROCS=2 SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2", "srun", 2, 0, true},
		{"SLURM_NTASKS=2 SLURM_PROCID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 PMIX_RANK=1", "srun", 2, 1, true},
		{"SLURM_NTASKS=2 SLURM_PROCID=1 PMIX_RANK=1", "srun", 2, 1, true},
		{"SLURM_NTASKS=4 SLURM_NPROCS=4 SLURM_PROCID=0", "", 0, 0, false},                                                  // the shell of sbatch
		{"SLURM_NTASKS=4 SLURM_NPROCS=4", "", 0, 0, false},                                                                 // the shell of salloc
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=4294967290 SLURM_STEP_NUM_TASKS=1", "", 1, 0, true},                  // the same as an interactive step
		{"SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0 PMIX_NAMESPACE=slurm.pmix.3.0", "", 1, 0, true}, // srun -n 1
		{"PALS_RANKID=1 PMI_SIZE=2 PMI_RANK=1", "Cray's PALS (mpiexec, aprun)", 2, 1, true},
		{"PALS_RANKID=1", "Cray's PALS (mpiexec, aprun)", 0, 1, true},
		{"ALPS_APP_PE=3", "Cray's aprun", 0, 3, true},
		{"PMI_SIZE=2 PMI_RANK=1", "a launcher with PMI", 2, 1, true},
		{"PMI_SIZE=2", "a launcher with PMI", 2, -1, true},
		{"PMIX_RANK=0 PMIX_NAMESPACE=x", "a launcher with PMIx", 0, 0, true},
		{"HOROVOD_SIZE=2 HOROVOD_RANK=1", "horovodrun", 2, 1, false},
		{"PET_NNODES=3 PET_NODE_RANK=0 PET_MASTER_ADDR=a", "Kubeflow Trainer (torch)", 3, 0, false},
		{"PET_NNODES=1:4 PET_NODE_RANK=0", "Kubeflow Trainer (torch)", 4, 0, false},
		{"WORLD_SIZE=2 RANK=1 LOCAL_RANK=1 MASTER_ADDR=127.0.0.1", "a launcher like torchrun", 2, 1, false},
		{"WORLD_SIZE=1 RANK=0", "", 1, 0, false},
		{"RANK=3", "", 0, 0, false},
		{"WORLD_SIZE=3", "", 0, 0, false},
		{"RANK=gold WORLD_SIZE=3", "", 0, 0, false},
		{"OMPI_COMM_WORLD_SIZE= PMI_SIZE=two", "", 0, 0, false},
		{"K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_default_hostfile=" + open, "Kubernetes' MPI operator", 4, -1, false},
		{"KUBERNETES_SERVICE_HOST=10.0.0.1 I_MPI_HYDRA_HOST_FILE=" + intel, "Kubernetes' MPI operator", 6, -1, false},
		{"K_MPI_JOB_ROLE=launcher HYDRA_HOST_FILE=" + hostfile("one\n"), "", 0, 0, false},
		{"K_MPI_JOB_ROLE=worker", "", 0, 0, false},
		{"OMPI_MCA_orte_default_hostfile=" + open, "", 0, 0, false}, // a user's habit, set for all shells
		{"JOB_COMPLETION_INDEX=1", "", 0, 0, false},
		{"", "", 0, 0, false},
	} {
		w := Look(getter(c.env))
		if c.launcher == "" {
			if w.Several() {
				t.Errorf("%s: %s", c.env, w.Among())
			}
			continue
		}
		if !w.Several() || w.Launcher != c.launcher || w.Size != c.size || w.Rank != c.rank || w.MPI != c.mpi {
			t.Errorf("%s: %+v", c.env, w)
		}
		for _, name := range w.Variables() {
			if !strings.Contains(w.Among(), name+"=") {
				t.Errorf("%s: no %s in %q", c.env, name, w.Among())
			}
		}
	}
}

// TestUnwired: srun --mpi=none tells MPI nothing of the other processes.
func TestUnwired(t *testing.T) {
	const step = "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 "
	for env, want := range map[string]bool{step: true, step + "PMIX_RANK=1": false, step + "PMI_RANK=1": false, "PMI_SIZE=2": false} {
		if w := Look(getter(env)); w.Unwired != want {
			t.Errorf("%s: %+v", env, w)
		}
	}
}

// TestTable: every row is met by the variables that it asks for, and says what to do.
func TestTable(t *testing.T) {
	for _, l := range launchers {
		env := ""
		for _, name := range append([]string{l.size, l.rank}, l.marks...) {
			if name != "" {
				env += " " + name + "=2"
			}
		}
		w, ok := l.look(getter(env))
		if !ok || !w.Several() || w.Rank != 2 || l.advice == "" {
			t.Errorf("%s with%s: %+v, %t", l.name, env, w, ok)
		}
		if w := Look(getter(env)); !w.Several() {
			t.Errorf("%s with%s is alone for Look", l.name, env)
		}
	}
}

func TestIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hostfile")
	if err := os.WriteFile(path, []byte("lenet-worker-0.lenet.default.svc slots=1\nlenet-worker-1.lenet.default.svc:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, host, want string }{
		{"K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_default_hostfile=" + path, "lenet-launcher-x7", path},
		{"K_MPI_JOB_ROLE=launcher HYDRA_HOST_FILE=" + path, "lenet-worker-1", ""}, // Hydra hands all variables on
		{"K_MPI_JOB_ROLE=launcher HYDRA_HOST_FILE=" + path, "lenet-worker-0.lenet.default.svc.cluster.local", ""},
		{"OMPI_MCA_orte_default_hostfile=" + path, "node1", ""}, // a user's own
		{"K_MPI_JOB_ROLE=launcher", "lenet-launcher-x7", ""},
	} {
		if got := Ignored(getter(c.env), c.host); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.env, c.host, got, c.want)
		}
	}
}
