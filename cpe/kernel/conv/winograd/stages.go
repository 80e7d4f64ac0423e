package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// evenUnits is the number of units a core group with which the longest part of a stage is at most 15 % over the mean: 8 units over 7.
const evenUnits = 7

// stageBlocks returns how many of a kernel's blocks of patches a stage takes, where core groups share so many units of a block, and points is the number of
// values of a block that they share. It is 1 if that divides evenly, as on a few core groups. Else it is so many that each core group gets whole panels,
// as long as the caches of all hold half of the points. Results do not depend on it, since each block is computed as if it were alone.
func stageBlocks(spec *cpe.Spec, blocks, units, panels, points int) int {
	want := evenUnits * spec.CoreGroups
	if units >= want {
		return 1
	}
	room := (spec.CoreGroups*spec.LDMBytes + spec.L3Bytes) / 4 / 2
	return max(1, min(blocks, tiling.Blocks(want, panels), room/max(1, points)))
}
