//go:build !unix

package train

import "os"

// launcherSignal is nil: this system has no such signal.
var launcherSignal os.Signal
