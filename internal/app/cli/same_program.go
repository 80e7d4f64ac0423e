package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/swcaffe/swcaffe/topology"
)

// checkPrograms returns an error on the first rank if another one runs another program: another release may compute other sums.
func checkPrograms(job *topology.MPIJob) error {
	own, err := ProgramSum()
	if err != nil {
		return err
	}
	if job.Rank() > 0 {
		return job.Post(0, own)
	}
	for rank := 1; rank < job.Size(); rank++ {
		sum, err := WaitForMail(job, rank)
		if err != nil {
			return err
		}
		if !bytes.Equal(sum, own) {
			return fmt.Errorf("rank %d runs another program than rank 0 (their files differ): install the same release on all computers", rank)
		}
	}
	return nil
}

// WaitForMail returns the next bytes that a rank posts.
func WaitForMail(job *topology.MPIJob, rank int) ([]byte, error) {
	for {
		text, ok, err := job.Fetch(rank)
		if ok || err != nil {
			return text, err
		}
		time.Sleep(time.Millisecond)
	}
}

// ProgramSum is the checksum of this process's program.
func ProgramSum() ([]byte, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
