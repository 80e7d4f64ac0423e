// Command print prints what it was built from, for a test.
package main

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/version"
)

func main() {
	b := version.Read()
	fmt.Println(b.Version, b.Commit, b.Date)
}
