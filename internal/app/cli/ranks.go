package cli

import (
	"github.com/swcaffe/swcaffe/layers"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/topology"
)

// Transports between ranks: the values of -transport.
const (
	TransportSim   = "sim"
	TransportLocal = "local"
	TransportMPI   = "mpi"
)

// MaxLocalRanks limits the ranks in one process. It is far below topology.MaxProbeRanks.
const MaxLocalRanks = 256

// ThisComputer is the network model for workers on one computer, used by -allreduce auto. A message costs a hand-over between threads and a
// copy.
var ThisComputer = topology.Spec{
	Name: "this computer", Nodes: MaxLocalRanks, NodesPerSupernode: MaxLocalRanks, Oversubscription: 1,
	BytesPerSecond: 5e9, Latency: 5e-6, ReduceBytesPerSecond: 5e9,
}

// RankLog returns the log of a rank. Only rank 0 shows its log.
func RankLog(e *Env, rank int) *logrus.Logger {
	if rank == 0 {
		return e.Log
	}
	return layers.NoLog()
}

// WarningsOf returns a log that writes the warnings and errors of its users where another one writes.
func WarningsOf(log *logrus.Logger) *logrus.Logger {
	return &logrus.Logger{
		Out: log.Out, Formatter: log.Formatter, Hooks: log.Hooks, ReportCaller: log.ReportCaller, ExitFunc: log.ExitFunc,
		Level: min(log.GetLevel(), logrus.WarnLevel),
	}
}
