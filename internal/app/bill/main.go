// Bill lists what a program of Go contains, for a release: its modules with their licences, as CycloneDX and SPDX, and the texts of all licences.
//
//	go run ./internal/app/bill -program bin/swcaffe -date 2026-11-28T10:00:00Z -licences LICENSES.txt -cyclonedx swcaffe.cdx.json -spdx swcaffe.spdx.json
//
// The modules are those that the Go command has recorded in the program. Their files come from the cache of modules, which "go mod download" fills. It fails
// if a module has no licence that is known, so that no release has one whose terms nobody has read.
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
)

func main() {
	program := flag.String("program", "", "the `FILE` of the program")
	date := flag.String("date", "", "the date of the lists, by RFC 3339")
	licences := flag.String("licences", "", "the `FILE` to write for the texts of all licences")
	cyclonedx := flag.String("cyclonedx", "", "the `FILE` to write for CycloneDX 1.5")
	spdx := flag.String("spdx", "", "the `FILE` to write for SPDX 2.3")
	flag.Parse()
	if err := bill(*program, *date, *licences, *cyclonedx, *spdx); err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

func bill(program, date, licences, cyclonedx, spdx string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	parts, err := partsOf(info)
	if err != nil {
		return err
	}
	target := target(info)
	if err := os.WriteFile(licences, texts(parts), 0o666); err != nil {
		return err
	}
	if err := writeJSON(cyclonedx, cycloneDX(parts, target, date)); err != nil {
		return err
	}
	return writeJSON(spdx, spdxOf(parts, target, date))
}
