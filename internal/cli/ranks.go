package cli

import (
	"io"

	"github.com/sirupsen/logrus"
)

// Transports between ranks: the values of -transport.
const (
	TransportSim   = "sim"
	TransportLocal = "local"
	TransportMPI   = "mpi"
)

// MaxLocalRanks limits the ranks in one process. It is far below topology.MaxProbeRanks.
const MaxLocalRanks = 256

// RankLog returns the log of a rank. Only rank 0 shows its log.
func RankLog(e *Env, rank int) *logrus.Logger {
	if rank == 0 {
		return e.Log
	}
	return QuietLog()
}

func QuietLog() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
