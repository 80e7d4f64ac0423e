package solver

import swnet "github.com/swcaffe/swcaffe/net"

// warnDivided logs, once for each type of layer, what workers or core groups that divide a batch compute from the items of each alone.
func (v *Solver) warnDivided(n *swnet.Net) {
	if share := v.share(0); share.Dividers() == "" || share.Rank > 0 {
		return
	}
	seen := map[string]bool{}
	for _, c := range n.Couplings() {
		if key := c.Type + c.Why; !seen[key] {
			seen[key] = true
			v.log.Warnf("layer %q, as all of type %s, %s: results differ from those of one worker", c.Layer, c.Type, c.Why)
		}
	}
}
