// Package nets draws random nets.
package nets

import "github.com/swcaffe/swcaffe/internal/randomtest"

// Kinds is the one kind.
func Kinds() []randomtest.Kind { return nil }
