package topology

import (
	"errors"
	"os"
	"time"
)

// MPI is an MPI library, on the communicator of all processes of the job. Calls may come from any goroutine, and block until the values are
// sent or received. Package mpiabi binds any library with MPI's standard ABI while the program runs, package empi the one of the compiler.
type MPI interface {
	// Library is the name and the version of the library.
	Library() string
	Rank() int
	Size() int
	Send(values []float32, to, tag int) error
	// Recv takes the next message of a rank, whatever its tag. A message of more values is an error.
	Recv(values []float32, from int) (Received, error)
	SendRecv(send []float32, to, tag int, recv []float32, from int) (Received, error)
	// Drop takes the next message of a rank, if one is there, and forgets its values.
	Drop(from int) (tag int, found bool, err error)
	// Post and Fetch are those of MPIJob. Their messages are apart from the others.
	Post(to int, text []byte) error
	Fetch(from int) (text []byte, ok bool, err error)
	// Finalize leaves the job, Abort ends all of its processes with exit code 1.
	Finalize()
	Abort()
	// Exit ends this process as C's exit does.
	Exit(code int)
}

// Received says what a receive has found.
type Received struct{ Values, Tag int }

// join joins this process's MPI job, nil in a program without MPI.
var join func() (MPI, error)

// joined is the library through which this process has joined a job.
var joined MPI

// Exit ends this process. Programs that join MPI jobs end by it: MPICH 5 takes leave of its launcher in a handler of C's exit, which os.Exit does
// not run. The launcher would take the process for lost, kill the others and return 9 (findings/mpich_exit_handlers.sh).
func Exit(code int) {
	if joined != nil {
		joined.Exit(code)
	}
	os.Exit(code)
}

// UseMPI gives the program its binding of MPI. The init function of a binding calls it, so that a program has MPI if it imports the binding.
func UseMPI(open func() (MPI, error)) {
	if join != nil {
		panic("topology: the program has two bindings of MPI")
	}
	join = open
}

// HasMPI reports whether this program can join an MPI job.
func HasMPI() bool { return join != nil }

// OpenMPI joins this process's MPI job; a process that no launcher has started is a job of one rank. Call it only once.
func OpenMPI() (*MPIJob, error) {
	if join == nil {
		return nil, errors.New("this program has no MPI: use swcaffe-mpi, or the build of swcaffe with -tags mpi (docs/workers.md)")
	}
	m, err := join()
	if err != nil {
		return nil, err
	}
	joined = m
	handleOnStack()
	return &MPIJob{Transport: newMPIRank(m), mpi: m}, nil
}

// MPIJob is this process's part of an MPI job.
type MPIJob struct {
	Transport
	mpi MPI
}

// Library is the name and the version of the MPI library.
func (j *MPIJob) Library() string { return j.mpi.Library() }

// Post sends bytes to another rank, beside the transport's messages. It may wait until the other rank fetches them. Post and Fetch may be
// called from any goroutine.
func (j *MPIJob) Post(to int, text []byte) error { return j.mpi.Post(to, text) }

// Fetch returns the next bytes that another rank has posted. It is not ok if none have come yet.
func (j *MPIJob) Fetch(from int) (text []byte, ok bool, err error) { return j.mpi.Fetch(from) }

// TellWaits reports, in lines of text, calls that have waited for another rank for many seconds, for instance because it is stopped, and
// their ends. Call it before the first message. tell may be called from any goroutine.
func (j *MPIJob) TellWaits(tell func(line string)) { j.rank().tellWaits(tell) }

func (j *MPIJob) rank() *mpiRank { return j.Transport.(*mpiRank) }

// outcome says how a rank's work ended.
type outcome int

const (
	done     outcome = iota
	followed         // after another rank's failure
	failed           // with an error of its own
)

// endPatience is how long a failed rank waits for the other ranks' work to end, so that the job always names the same rank.
const endPatience = 10 * time.Second

// End tells the other ranks how this one's work ended, and waits until theirs has ended too; work that needs this rank fails. A failed rank
// waits only for a limited time. End reports whether the job ends with this rank's error: that of the lowest rank that failed by itself.
// Other failed ranks leave it time to end them. Only Close and Abort may follow.
func (j *MPIJob) End(err error) (first bool) {
	switch {
	case err == nil:
		return j.rank().end(done, 0)
	case errors.Is(err, ErrAborted):
		first = j.rank().end(followed, endPatience)
	default:
		first = j.rank().end(failed, endPatience)
	}
	if !first {
		time.Sleep(endPatience)
	}
	return first
}

// Close leaves the job, after all messages of this process.
func (j *MPIJob) Close() { j.mpi.Finalize() }

// Abort ends all processes of the job with exit code 1.
func (j *MPIJob) Abort() { j.mpi.Abort() }
