package launch

// Advice for processes that MPI joins, and for those that it cannot join.
const (
	byMPI   = "The MPI library and the launcher must belong together, as the mpirun of that MPI does."
	bySlurm = "Use srun --mpi=pmix for Open MPI, and --mpi=pmi2 or pmix for MPICH; `srun --mpi=list` tells which are there."
	noMPI   = "Workers join by MPI, of which these variables tell nothing: start them by `mpirun -n N swcaffe ...`, srun, or the MPI operator of Kubernetes."
)

// pmi are variables that srun --mpi=pmix and --mpi=pmi2 set, and --mpi=none does not (seen: Slurm 22.05).
var pmi = []string{"PMIX_RANK", "PMI_RANK"}

// launchers are those that set a variable for each process. The first that matches counts: launchers that start others (mpirun in a step of
// srun, for instance) leave their variables too, so that the inner ones come first.
var launchers = []launcher{
	// Open MPI 1.3 to 6: "Environment variables set for MPI applications" in its documentation. Open MPI 5 and later start processes by PRRTE.
	{name: "Open MPI's mpirun", size: "OMPI_COMM_WORLD_SIZE", rank: "OMPI_COMM_WORLD_RANK", mpi: true, advice: byMPI},
	// MVAPICH2 2.3 user guide, "Accessing local rank": mpirun_rsh sets these.
	{name: "MVAPICH2's mpirun_rsh", size: "MV2_COMM_WORLD_SIZE", rank: "MV2_COMM_WORLD_RANK", mpi: true, advice: byMPI},
	// IBM Job Step Manager: jsrun's manual page, "Environment variables".
	{name: "jsrun", size: "JSM_NAMESPACE_SIZE", rank: "JSM_NAMESPACE_RANK", mpi: true, advice: byMPI},
	// flux-environment(7), "JOB ENVIRONMENT": set for the tasks of flux run and flux submit. The shell of flux alloc has neither.
	{name: "flux run", size: "FLUX_JOB_SIZE", rank: "FLUX_TASK_RANK", mpi: true, advice: byMPI},
	// Intel MPI's mpirun is Hydra, and its script exports I_MPI_MPIRUN (Intel MPI Library developer reference).
	{name: "Intel MPI's mpirun", size: "PMI_SIZE", rank: "PMI_RANK", marks: []string{"I_MPI_MPIRUN"}, mpi: true, advice: byMPI},
	// MPICH's Hydra, pm/hydra/proxy/pmip_cb.c of MPICH 3: PMI_RANK, PMI_SIZE and MPI_LOCALNRANKS. Also seen: MPICH 4.0.2 and 5.0.2.
	{name: "MPICH's Hydra (mpiexec, mpirun)", size: "PMI_SIZE", rank: "PMI_RANK", marks: []string{"MPI_LOCALNRANKS"}, mpi: true, advice: byMPI},
	// The same with -pmi-port, which tells a process the address of a server instead (seen: MPICH 4.0.2).
	{name: "MPICH's Hydra (mpiexec -pmi-port)", rank: "PMI_ID", marks: []string{"PMI_PORT"}, mpi: true, advice: byMPI},
	// Hydra's numbers on one computer, where a wrapper has left nothing else.
	{name: "an MPICH or Intel MPI launcher", rank: "MPI_LOCALRANKID", mpi: true, advice: byMPI},
	// PRRTE without Open MPI's names: prterun and prun (seen: PRRTE 5.0). Only the PMIx server knows the number of processes.
	{name: "PRRTE (prterun, prun)", rank: "PMIX_RANK", marks: []string{"PRTE_LAUNCHED"}, mpi: true, advice: byMPI},
	// srun(1), "OUTPUT ENVIRONMENT VARIABLES". The shells of sbatch and salloc have SLURM_NTASKS, but no step, or one of a single task
	// (seen: Slurm 22.05, also with LaunchParameters=use_interactive_step).
	{name: "srun", size: "SLURM_STEP_NUM_TASKS", rank: "SLURM_PROCID", marks: []string{"SLURM_STEP_NUM_TASKS"}, mpi: true, wires: pmi, advice: bySlurm},
	// Only a step has a second task; the shell of sbatch is task 0 of SLURM_NTASKS.
	{name: "srun", size: "SLURM_NTASKS", rank: "SLURM_PROCID", required: true, least: 1, mpi: true, wires: pmi, advice: bySlurm},
	// Cray's launchers: intro_mpi(3) of Cray MPICH. PALS also sets PMI's variables; ALPS tells no number.
	{name: "Cray's PALS (mpiexec, aprun)", size: "PMI_SIZE", rank: "PALS_RANKID", marks: []string{"PALS_RANKID"}, mpi: true, advice: byMPI},
	{name: "Cray's aprun", rank: "ALPS_APP_PE", mpi: true, advice: byMPI},
	// PMI-1 and PMI-2 wire protocol (P. Balaji et al., "PMI: A scalable parallel process-management interface", EuroMPI 2010); MS-MPI too.
	{name: "a launcher with PMI", size: "PMI_SIZE", rank: "PMI_RANK", mpi: true, advice: byMPI},
	// PMIx standard 4, "PMIX_RANK" and "PMIX_NAMESPACE". The number of processes is the server's to tell.
	{name: "a launcher with PMIx", rank: "PMIX_RANK", mpi: true, advice: byMPI},
	// Horovod's horovodrun with Gloo: horovod/runner/gloo_run.py.
	{name: "horovodrun", size: "HOROVOD_SIZE", rank: "HOROVOD_RANK", advice: noMPI},
	// Kubeflow Trainer tells torchrun by these how many nodes there are; a program in torchrun's place sees them too.
	{name: "Kubeflow Trainer (torch)", size: "PET_NNODES", rank: "PET_NODE_RANK", required: true, advice: noMPI},
	// torchrun, torch.distributed.launch and Kubeflow's PyTorchJob: torch.distributed.elastic, "Environment Variables". RANK alone says
	// nothing: many programs use the name.
	{name: "a launcher like torchrun", size: "WORLD_SIZE", rank: "RANK", required: true, advice: noMPI},
}

// siblings are variables of tasks that are started alike and work alone: Kubernetes' indexed jobs ("Indexed Job for Parallel Processing").
var siblings = []string{"JOB_COMPLETION_INDEX"}
