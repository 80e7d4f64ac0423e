package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// goFiles returns the Go files of a package: the type of its tables, with the constants that name members of families, and for each processor the
// tables of its levels and what calls their assembly.
func goFiles(room string) map[string][]byte {
	byProcessor := map[string][]emit.ISA{}
	for _, s := range levels {
		byProcessor[s.Processor] = append(byProcessor[s.Processor], s)
	}
	files := map[string][]byte{"kernels.go": table(room)}
	var others []string
	for _, processor := range slices.Sorted(maps.Keys(byProcessor)) {
		files["kernels_"+processor+".go"] = calls(room, "", byProcessor[processor])
		others = append(others, "!"+processor)
	}
	files["kernels_other.go"] = calls(room, "//go:build "+strings.Join(others, " && ")+"\n\n", nil)
	return files
}

// table is the file with the type of a package's tables.
func table(room string) []byte {
	to := bytes.NewBufferString(header + "\npackage " + room + "\n")
	to.WriteString("\n// kernels is the table of a level: block sizes, and kernels in assembly. Where a kernel is none, the package computes in Go.\ntype kernels struct {\n")
	for _, z := range sizesOf(room) {
		fmt.Fprintf(to, "// %s %s\n%[1]s int\n", z.name, z.doc)
	}
	to.WriteString("\n")
	for _, k := range in(room) {
		k.field(to)
	}
	to.WriteString("}\n\n// none stands for a kernel that a level does not have. Other numbers stand for functions in assembly, which the method run of their type calls.\nconst none = 0\n")
	to.WriteString("\n// have is the table of the level in use; here that of plain Go.\nvar have = kernels{\n")
	for _, z := range sizesOf(room) {
		fmt.Fprintf(to, "%s: %d,\n", z.name, z.plain)
	}
	to.WriteString("}\n")
	for _, k := range in(room) {
		fmt.Fprintf(to, "\n// %s %s\ntype %[1]s uint8\n", k.name, k.doc)
		k.enumerate(to)
	}
	return formatted(to)
}

// calls is the file of a processor with some levels, which may be none: the declarations of their assembly, the tables of the levels and the methods
// that call the assembly.
func calls(room, constraint string, levels []emit.ISA) []byte {
	to := bytes.NewBufferString(header + "\n" + constraint + "package " + room + "\n")
	if len(levels) > 0 {
		fmt.Fprintf(to, "\nimport %q\n\nfunc init() {\nisa.Offer(&have, map[string]func(*kernels){\n", module+"/internal/base/simd/isa")
		for _, s := range levels {
			fmt.Fprintf(to, "%q: %[1]s,\n", s.Name)
		}
		to.WriteString("})\n}\n")
	}
	for _, s := range levels {
		fill(to, room, s, levels)
	}
	for _, k := range in(room) {
		k.call(to, k.functions(levels))
	}
	return formatted(to)
}

// formatted is the text as gofmt has it.
func formatted(text *bytes.Buffer) []byte {
	out, err := format.Source(text.Bytes())
	if err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, text))
	}
	return out
}

// fill writes the function that enters the sizes and kernels of one of a processor's levels in the table of a package.
func fill(to *bytes.Buffer, room string, s emit.ISA, levels []emit.ISA) {
	fmt.Fprintf(to, "\nfunc %s(t *kernels) {\n", s.Name)
	for _, z := range sizesOf(room) {
		fmt.Fprintf(to, "t.%s = %d\n", z.name, z.of(s))
	}
	for _, k := range in(room) {
		functions, needs := k.functions(levels), ""
		for _, m := range append(k.members(s), member{}) {
			if needs != "" && m.needs != needs {
				to.WriteString("}\n")
			}
			if m.needs != "" && m.needs != needs {
				fmt.Fprintf(to, "if isa.%s() {\n", m.needs)
			}
			if needs = m.needs; m.name == "" {
				break
			}
			fmt.Fprintf(to, "t.%s", constant("", k.name))
			for _, index := range m.when {
				fmt.Fprintf(to, "[%s]", index)
			}
			fmt.Fprintf(to, " = %d // %s\n", 1+slices.Index(functions, m.function(s)), m.function(s))
		}
	}
	to.WriteString("}\n")
}

// functions are the functions in assembly of a kernel for some levels. Function i has the number i+1 in tables.
func (k *kernel) functions(levels []emit.ISA) (list []string) {
	for _, s := range levels {
		for _, m := range k.members(s) {
			if f := m.function(s); !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
	}
	return list
}

// call writes the declarations of functions of a kernel and the method that calls them. Because it calls them by name, the compiler knows that they
// keep no address, and buffers of callers can stay on the stack; of a function value it would not know.
func (k *kernel) call(to *bytes.Buffer, functions []string) {
	for _, f := range functions {
		fmt.Fprintf(to, "\n//go:noescape\nfunc %s(%s)\n", f, k.args)
	}
	if len(functions) == 0 {
		fmt.Fprintf(to, "\nfunc (%s) run(%s) {}\n", k.name, k.args)
		return
	}
	fmt.Fprintf(to, "\nfunc (number %s) run(%s) {\nswitch number {\n", k.name, k.args)
	for i, f := range functions {
		fmt.Fprintf(to, "case %d:\n%s(%s)\n", i+1, f, strings.Join(names(k.args), ", "))
	}
	to.WriteString("}\n}\n")
}

// field writes the field of a kernel. As array it has room for the members of all levels.
func (k *kernel) field(to *bytes.Buffer) {
	fmt.Fprintf(to, "%s ", constant("", k.name))
	for i := range names(k.by) {
		fmt.Fprintf(to, "[%d]", k.extent(i))
	}
	to.WriteString(k.name)
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
