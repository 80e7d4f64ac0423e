package scaling

import (
	"fmt"
	"math/bits"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/topology"
)

// Partition is a processor whose cores are divided into groups ([SC17], on KNL). Each group is a worker with its own copy of weights and data
// in fast memory. It computes its part of the batch; gradients are summed along a tree; every group gets the sum and updates its own weights.
type Partition struct {
	*Machine
	whole  cpe.Spec
	groups int
}

// NewPartition divides the machine of the options into groups. Each keeps dataBytes of data beside its weights; P (weights + data) must fit
// the memory.
func NewPartition(net *swproto.Net, o modeltime.Options, groups int, dataBytes int64) (*Partition, error) {
	p := &Partition{whole: o.Spec, groups: groups}
	var err error
	if o.Spec, err = o.Spec.Part(groups); err != nil {
		return nil, err
	}
	if p.Machine, err = NewMachine(net, o); err != nil {
		return nil, err
	}
	weights := p.Machine.weightBytes()
	if need, have := int64(groups)*(weights+dataBytes), p.whole.Memory.Bytes; have > 0 && need > have {
		return nil, fmt.Errorf("%d groups with %d MB of weights and %d MB of data each need %d MB; machine %q has %d MB",
			groups, weights>>20, dataBytes>>20, need>>20, o.Spec.Name, have>>20)
	}
	return p, nil
}

// Report returns the report of the group with the most images.
func (p *Partition) Report(batch int) (*modeltime.Report, error) {
	return p.Machine.Report(p.share(batch))
}

func (p *Partition) share(batch int) int { return (batch + p.groups - 1) / p.groups }

// Compute returns the time of the iteration of all groups: that of the group with the most images, and the sum along the tree.
func (p *Partition) Compute(batch int) (Compute, error) {
	if batch < p.groups {
		return Compute{}, fmt.Errorf("%d groups cannot share a batch of %d images", p.groups, batch)
	}
	c, err := p.Machine.Compute(p.share(batch))
	if err != nil {
		return c, err
	}
	c.Update += p.sumTime(c.WeightBytes())
	return c, nil
}

// sumTime is the time of the sum along the tree. On each of log2 P levels, half as many groups as on the previous one add another's gradients
// to their own, which moves 3 n bytes. On the way back as many groups copy the sum, 2 n bytes. They share the memory's bandwidth, as far as
// their own cores can use it.
func (p *Partition) sumTime(bytes int64) topology.VTime {
	const giga = 1e9
	cores := p.whole.DMA.Peak() * float64(p.whole.CoreGroups/p.groups)
	var t topology.VTime
	for level := bits.Len(uint(p.groups - 1)); level > 0; level-- {
		active := float64(int(1) << (level - 1))
		t += topology.VTime(5 * float64(bytes) / (giga * min(cores, p.whole.Memory.GBps/active)))
	}
	return t
}
