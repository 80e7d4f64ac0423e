package main

import (
	"io"

	"github.com/sirupsen/logrus"
)

// Transports that ranks talk by: those of -transport.
const (
	transportSim   = "sim"
	transportLocal = "local"
	transportMPI   = "mpi"
)

// maxLocalRanks bounds the ranks of one process; it is far below topology.MaxProbeRanks.
const maxLocalRanks = 256

// logOf is the log of a rank: only the first one's is shown.
func logOf(e *env, rank int) *logrus.Logger {
	if rank == 0 {
		return e.log
	}
	return quietLog()
}

func quietLog() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
