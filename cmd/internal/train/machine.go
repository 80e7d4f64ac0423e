package train

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver"
)

// readMachine reads the file of a modelled machine, for the run's events.
func (o *trainOptions) readMachine() error {
	file, text, err := cpe.Text(o.device.MachineName)
	if err != nil {
		return cli.FlagError("machine", err)
	}
	spec, err := cpe.Parse(file, text)
	if err != nil {
		return cli.FlagError("machine", err)
	}
	if !spec.Native() {
		o.machineText = string(text)
	}
	return nil
}

// spec describes the machine that computes. In virtual time that is this computer, whatever machine's time the clocks show.
func (o *trainOptions) spec(e *cli.Env) (cpe.Spec, error) {
	if o.workers.transport != cli.TransportSim {
		return o.device.Spec(e)
	}
	modelled, err := cpe.Load(o.device.MachineName)
	if err != nil {
		return cpe.Spec{}, cli.FlagError("machine", err)
	}
	if cpe.DefaultMode(modelled) == cpe.Native {
		return cpe.Spec{}, cli.Usagef("-transport sim needs a modelled machine: -machine sw26010, or a machine file")
	}
	file, err := solver.Read(o.solver, o.start())
	if err != nil {
		return cpe.Spec{}, err
	}
	if o.workers.simulation, err = newSimulation(e, &o.workers, modelled, file); err != nil {
		return cpe.Spec{}, err
	}
	o.device.MachineName = "host"
	return o.device.Spec(e)
}
