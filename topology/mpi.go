package topology

import (
	"errors"
	"time"
)

// MPIJob is this process's place in an MPI job.
type MPIJob struct {
	Transport
	finalize  func()
	abort     func()
	end       func(o outcome, patience time.Duration) (first bool)
	tellWaits func(tell func(line string))
}

// TellWaits has lines told of calls that wait for another rank for many seconds, as for one that is stopped, and of their ends. It is called
// before the first message; tell may be called from any goroutine.
func (j *MPIJob) TellWaits(tell func(line string)) { j.tellWaits(tell) }

// outcome is how a rank's work has ended.
type outcome int

const (
	done     outcome = iota
	followed         // after another rank's failure
	failed           // with an error of its own
)

// endPatience is how long a rank that has failed waits for the others' work to end, so that the same one is named each time.
const endPatience = 10 * time.Second

// End tells the other ranks how this one's work has ended, and waits until theirs has, which fails where it needs this rank; for a rank
// that has failed the wait is limited. It reports whether it is this rank's error that the job ends with: that of the lowest rank
// that has one of its own. Another rank that has failed is left the time to be ended by that one. No calls follow but Close and Abort.
func (j *MPIJob) End(err error) (first bool) {
	switch {
	case err == nil:
		return j.end(done, 0)
	case errors.Is(err, ErrAborted):
		first = j.end(followed, endPatience)
	default:
		first = j.end(failed, endPatience)
	}
	if !first {
		time.Sleep(endPatience)
	}
	return first
}

// Close ends the process's part in the job, after all of its messages.
func (j *MPIJob) Close() { j.finalize() }

// Abort ends all processes of the job with exit code 1.
func (j *MPIJob) Abort() { j.abort() }
