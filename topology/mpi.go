package topology

import (
	"errors"
	"time"
)

// MPIJob is this process's part of an MPI job.
type MPIJob struct {
	Transport
	library   string
	finalize  func()
	abort     func()
	end       func(o outcome, patience time.Duration) (first bool)
	tellWaits func(tell func(line string))
	post      func(to int, text []byte) error
	fetch     func(from int) (text []byte, ok bool, err error)
}

// Library is the name and the version of the MPI library.
func (j *MPIJob) Library() string { return j.library }

// Post sends bytes to another rank, beside the transport's messages. It may wait until the other rank fetches them. Post and Fetch may be
// called from any goroutine.
func (j *MPIJob) Post(to int, text []byte) error { return j.post(to, text) }

// Fetch returns the next bytes that another rank has posted. It is not ok if none have come yet.
func (j *MPIJob) Fetch(from int) (text []byte, ok bool, err error) { return j.fetch(from) }

// TellWaits reports, in lines of text, calls that have waited for another rank for many seconds, for instance because it is stopped, and
// their ends. Call it before the first message. tell may be called from any goroutine.
func (j *MPIJob) TellWaits(tell func(line string)) { j.tellWaits(tell) }

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

// Close leaves the job, after all messages of this process.
func (j *MPIJob) Close() { j.finalize() }

// Abort ends all processes of the job with exit code 1.
func (j *MPIJob) Abort() { j.abort() }
