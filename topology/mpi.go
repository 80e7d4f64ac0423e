package topology

// MPIJob is this process's place in an MPI job.
type MPIJob struct {
	Transport
	finalize func()
	abort    func(code int)
}

// Close ends the process's part in the job, after all of its messages.
func (j *MPIJob) Close() { j.finalize() }

// Abort ends all processes of the job with an exit code that is not 0.
func (j *MPIJob) Abort(code int) { j.abort(code) }
