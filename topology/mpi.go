package topology

// MPIJob is this process's place in an MPI job.
type MPIJob struct {
	Transport
	finalize func()
	abort    func()
}

// Close ends the process's part in the job, after all of its messages.
func (j *MPIJob) Close() { j.finalize() }

// Abort ends all processes of the job with exit code 1.
func (j *MPIJob) Abort() { j.abort() }
