package serve

import (
	"slices"
	"sync"
	"time"
)

// queue holds the jobs that wait for a version's runs, in the order of their arrival. One goroutine at a time waits for jobs.
type queue struct {
	mu      sync.Mutex
	jobs    []*job
	most    int
	closed  bool
	arrived chan struct{} // has a value if a job may have arrived since the last look
}

func newQueue(most int) *queue { return &queue{most: most, arrived: make(chan struct{}, 1)} }

// push adds a job, unless there are as many as there may be. It never waits.
func (q *queue) push(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) >= q.most {
		return false
	}
	q.jobs = append(q.jobs, j)
	q.signal()
	return true
}

// full reports whether push would refuse a job.
func (q *queue) full() bool { return q.size() >= q.most }

func (q *queue) signal() {
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// remove takes out a job that nobody waits for any more, so that its place and its memory are free. It reports whether the job was there.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := slices.Index(q.jobs, j)
	if k >= 0 {
		q.jobs = slices.Delete(q.jobs, k, k+1)
	}
	return k >= 0
}

// next takes out the first job, nil if there is none. open: there may be more later.
func (q *queue) next() (j *job, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return nil, !q.closed
	}
	j = q.jobs[0]
	q.jobs = slices.Delete(q.jobs, 0, 1)
	return j, true
}

// wait takes out the first job, waiting for it until the deadline, if there is one, or until the queue is closed; then there is none.
func (q *queue) wait(deadline <-chan time.Time) *job {
	for {
		if j, open := q.next(); j != nil || !open {
			return j
		}
		select {
		case <-q.arrived:
		case <-deadline:
			return nil
		}
	}
}

// over reports whether the queue is closed and empty.
func (q *queue) over() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && len(q.jobs) == 0
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

// close ends all waits, once the jobs that are there have been taken. None may come afterwards.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}
