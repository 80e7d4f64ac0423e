package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// goFiles returns the Go files of a package: the type of its tables, with the constants that name members of families, and for amd64 the declarations
// of the assembly and the tables of the levels.
func goFiles(room string) map[string][]byte {
	table, amd64 := bytes.NewBufferString(header+"\npackage "+room+"\n"), new(bytes.Buffer)
	table.WriteString("\n// kernels is the table of a level: block sizes, and kernels in assembly. Where a kernel is nil, the package computes in Go.\ntype kernels struct {\n")
	for _, z := range sizesOf(room) {
		fmt.Fprintf(table, "// %s %s\n%[1]s int\n", z.name, z.doc)
	}
	for _, k := range in(room) {
		k.declare(table)
	}
	table.WriteString("}\n\n// have is the table of the level in use; here that of plain Go.\nvar have = kernels{\n")
	for _, z := range sizesOf(room) {
		fmt.Fprintf(table, "%s: %d,\n", z.name, z.plain)
	}
	table.WriteString("}\n")
	fmt.Fprintf(amd64, "%s\npackage %s\n\nimport %q\n", header, room, module+"/internal/simd/isa")
	amd64.WriteString("\nfunc init() {\nisa.Offer(&have, map[string]func(*kernels){\n")
	for _, s := range levels {
		fmt.Fprintf(amd64, "%q: %[1]s,\n", s.Name)
	}
	amd64.WriteString("})\n}\n")
	for _, s := range levels {
		fill(amd64, room, s)
	}
	for _, k := range in(room) {
		k.enumerate(table)
		for _, s := range levels {
			for _, m := range k.of(s) {
				if m.emit != nil {
					fmt.Fprintf(amd64, "\nfunc %s%s(%s)\n", m.name, s.Tag, k.args)
				}
			}
		}
	}
	return map[string][]byte{"kernels.go": formatted(table), "kernels_amd64.go": formatted(amd64)}
}

// formatted is the text as gofmt has it.
func formatted(text *bytes.Buffer) []byte {
	out, err := format.Source(text.Bytes())
	if err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, text))
	}
	return out
}

// fill writes the function that enters a level's sizes and kernels in the table of a package.
func fill(to *bytes.Buffer, room string, s emit.ISA) {
	fmt.Fprintf(to, "\nfunc %s(t *kernels) {\n", s.Name)
	for _, z := range sizesOf(room) {
		fmt.Fprintf(to, "t.%s = %d\n", z.name, z.of(s))
	}
	for _, k := range in(room) {
		for _, m := range k.of(s) {
			function := m.name
			if m.emit != nil {
				function += s.Tag
			}
			fmt.Fprintf(to, "t.%s", constant("", k.name))
			for _, index := range m.when {
				fmt.Fprintf(to, "[%s]", index)
			}
			fmt.Fprintf(to, " = %s\n", function)
		}
	}
	to.WriteString("}\n")
}

// declare writes the field of a kernel. As array it has room for the members of all levels.
func (k *kernel) declare(to *bytes.Buffer) {
	name := constant("", k.name)
	fmt.Fprintf(to, "\n// %s %s\n%[1]s ", name, k.doc)
	for i := range names(k.by) {
		fmt.Fprintf(to, "[%d]", k.extent(i))
	}
	fmt.Fprintf(to, "func(%s)", k.args)
	if k.by != "" {
		fmt.Fprintf(to, " // by %s", k.by)
	}
	to.WriteString("\n")
}

// extent is the length of dimension i of a kernel's array: numbers begin at 0, and named members are numbered from 0. Every table has room for the
// four vectors that a block of channels has with 4 lanes, the fewest that a level may have.
func (k *kernel) extent(i int) (n int) {
	if names(k.by)[i] == "vectors" {
		n = emit.Lanes/4 + 1
	}
	named := map[string]bool{}
	for _, s := range levels {
		for _, m := range k.of(s) {
			if v, err := strconv.Atoi(m.when[i]); err == nil {
				n = max(n, v+1)
			} else {
				named[m.when[i]] = true
			}
		}
	}
	return max(n, len(named))
}

// names returns the names in a parameter list.
func names(parameters string) (list []string) {
	if parameters == "" {
		return nil
	}
	for p := range strings.SplitSeq(parameters, ", ") {
		name, _, _ := strings.Cut(p, " ")
		list = append(list, name)
	}
	return list
}

// enumerate writes the type of the constants that name members, if it is declared with them.
func (k *kernel) enumerate(to *bytes.Buffer) {
	_, kind, _ := strings.Cut(k.by, " ")
	doc, ok := enumerations[kind]
	if !ok {
		return
	}
	fmt.Fprintf(to, "\n// %s\ntype %s int\n\nconst (\n", doc, kind)
	for i, m := range k.of(levels[0]) {
		if i == 0 {
			fmt.Fprintf(to, "%s %s = iota\n", m.when[0], kind)
		} else {
			fmt.Fprintf(to, "%s\n", m.when[0])
		}
	}
	to.WriteString(")\n")
}

const module = "github.com/swcaffe/swcaffe"
