package launch

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Kubernetes' MPI operator starts the user's command once, in the pod of the launcher, and names the hosts there. The command must be mpirun:
// any other one runs in that pod alone, while the workers' pods wait. Sources: launcherEnvVars and ompiEnvVars in
// pkg/controller/mpi_job_controller.go of kubeflow/mpi-operator v0.4 to v0.6; pkg/constants of kubeflow/trainer v2, which sets no role.
const roleVariable = "K_MPI_JOB_ROLE"

// podVariable is in every pod of Kubernetes.
const podVariable = "KUBERNETES_SERVICE_HOST"

var hostfileVariables = []string{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "I_MPI_HYDRA_HOST_FILE", "HYDRA_HOST_FILE"}

// operator returns the World that the launcher's pod stands for, if it has more than one place.
func operator(get func(string) (string, bool)) World {
	role, _ := get(roleVariable)
	_, pod := get(podVariable)
	if role != "launcher" && !pod {
		return World{}
	}
	for _, name := range hostfileVariables {
		path, ok := get(name)
		if !ok {
			continue
		}
		if _, n := places(path); n > 1 {
			return World{
				Launcher: "Kubernetes' MPI operator", Size: n, Rank: -1, Seen: []string{name + "=" + path},
				Advice: fmt.Sprintf("This is the launcher's pod, and %s names %d places: the pod's command must be `mpirun -n %d swcaffe ...`.", path, n, n),
			}
		}
	}
	return World{}
}

// Ignored returns the operator's hostfile if mpirun has started this process in the launcher's pod, which the file does not name; "" otherwise. mpirun
// of Open MPI 5 and later does not know the variable by which the operator tells of the file, and would start all processes in that pod.
func Ignored(get func(string) (string, bool), host string) string {
	if role, _ := get(roleVariable); role != "launcher" {
		return ""
	}
	for _, name := range hostfileVariables {
		path, ok := get(name)
		if !ok {
			continue
		}
		own, _, _ := strings.Cut(host, ".")
		if hosts, n := places(path); n > 1 && !slices.Contains(hosts, own) {
			return path
		}
	}
	return ""
}

// places returns the hosts of a hostfile, without their domains, and the number of processes for which there is room: a host a line, with slots=N (Open MPI)
// or :N (MPICH, Intel MPI), or for one. A file that cannot be read has none.
func places(path string) (hosts []string, n int) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		slots := 1
		name, number, ok := strings.Cut(fields[0], ":")
		host, _, _ := strings.Cut(name, ".")
		hosts = append(hosts, host)
		for _, f := range fields[1:] {
			if s, found := strings.CutPrefix(f, "slots="); found {
				number, ok = s, true
			}
		}
		if k, err := strconv.Atoi(number); ok && err == nil {
			slots = k
		}
		n += slots
	}
	return hosts, n
}
