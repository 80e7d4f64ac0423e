package measure

import (
	"strings"

	"github.com/sirupsen/logrus"
	swnet "github.com/swcaffe/swcaffe/net"
)

// logLayouts logs the blobs with blocked channels, and the number of layout conversions per iteration.
func logLayouts(log *logrus.Logger, n *swnet.Net) {
	l := n.Layouts()
	if l.TurnsOfPlanes == 0 {
		return
	}
	if len(l.Blocked) > 0 {
		log.Infof("Channels in blocks: %s", strings.Join(l.Blocked, ", "))
	}
	if len(l.Thin) > 0 {
		log.Infof("Computed only at strided pixels: %s", strings.Join(l.Thin, ", "))
	}
	log.Infof("Layouts: %d conversions of %.1f million values an iteration; with all images by planes, %d of %.1f million",
		l.Turns, float64(l.Values)/1e6, l.TurnsOfPlanes, float64(l.ValuesOfPlanes)/1e6)
}
