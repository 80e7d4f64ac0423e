package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// goFiles returns the Go files of a package: for amd64 the declarations of the assembly and the functions that pick a level and a member
// of a family, for other processors functions in their place that are never called, and for both the constants that name members.
func goFiles(room string) map[string][]byte {
	var amd64, other bytes.Buffer
	fmt.Fprintf(&amd64, "%s\npackage %s\n", header, room)
	if asksForLevel(room) {
		fmt.Fprintf(&amd64, "\nimport %q\n", module+"/internal/simd/isa")
	}
	fmt.Fprintf(&other, "%s\n//go:build !amd64\n\npackage %s\n\nconst noAssembly = \"%s: a kernel was called that has no assembly\"\n", header, room, room)
	var named bytes.Buffer
	for _, k := range kernels {
		if k.room != room {
			continue
		}
		k.declare(&amd64)
		k.dispatch(&amd64)
		fmt.Fprintf(&other, "\nfunc %s(%s) { panic(noAssembly) }\n", k.call, k.parameters())
		k.enumerate(&named)
	}
	files := map[string][]byte{"kernels_amd64.go": formatted(&amd64), "kernels_other.go": formatted(&other)}
	if named.Len() > 0 {
		text := bytes.NewBufferString(header + "\npackage " + room + "\n")
		text.Write(named.Bytes())
		files["kernels.go"] = formatted(text)
	}
	return files
}

// formatted is the text as gofmt has it.
func formatted(text *bytes.Buffer) []byte {
	out, err := format.Source(text.Bytes())
	if err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, text))
	}
	return out
}

// parameters returns the parameter list of the function call.
func (k *kernel) parameters() string {
	if k.by == "" {
		return k.args
	}
	return k.by + ", " + k.args
}

// names returns the names in a parameter list.
func names(parameters string) (list []string) {
	for p := range strings.SplitSeq(parameters, ", ") {
		name, _, _ := strings.Cut(p, " ")
		list = append(list, name)
	}
	return list
}

// declare writes the declarations of the assembly.
func (k *kernel) declare(to *bytes.Buffer) {
	for _, s := range levels {
		for _, m := range k.of(s) {
			fmt.Fprintf(to, "\n//go:noescape\nfunc %s%s(%s)\n", m.name, s.Tag, k.args)
		}
	}
}

// dispatch writes the function that calls the assembly. If only one level has assembly, the function calls it without asking for the level: its
// callers have done so.
func (k *kernel) dispatch(to *bytes.Buffer) {
	fmt.Fprintf(to, "\n// %s %s\nfunc %s(%s) {\n", k.call, k.doc, k.call, k.parameters())
	have := k.levels()
	for i, s := range have {
		last := i == len(have)-1
		if !last {
			fmt.Fprintf(to, "if isa.Width() == %d {\n", s.Width)
		}
		k.pick(to, s, k.of(s), 0)
		if !last {
			to.WriteString("return\n}\n")
		}
	}
	to.WriteString("}\n")
}

// levels are the levels for which a kernel has assembly.
func (k *kernel) levels() (have []emit.ISA) {
	for _, s := range levels {
		if len(k.of(s)) > 0 {
			have = append(have, s)
		}
	}
	return have
}

// asksForLevel reports whether a package has a kernel with assembly for several levels.
func asksForLevel(room string) bool {
	return slices.ContainsFunc(kernels, func(k kernel) bool { return k.room == room && len(k.levels()) > 1 })
}

// pick writes a switch over the first parameter of by. Each case has a switch over the next parameter; the last cases call the assembly.
func (k *kernel) pick(to *bytes.Buffer, s emit.ISA, members []member, parameter int) {
	if parameter == len(members[0].when) {
		fmt.Fprintf(to, "%s%s(%s)\n", members[0].name, s.Tag, strings.Join(names(k.args), ", "))
		return
	}
	cases := map[string][]member{}
	var order []string
	for _, m := range members {
		value := m.when[parameter]
		if cases[value] == nil {
			order = append(order, value)
		}
		cases[value] = append(cases[value], m)
	}
	if slices.Equal(slices.Sorted(maps.Keys(cases)), []string{"false", "true"}) {
		fmt.Fprintf(to, "if %s {\n", names(k.by)[parameter])
		k.pick(to, s, cases["true"], parameter+1)
		to.WriteString("return\n}\n")
		k.pick(to, s, cases["false"], parameter+1)
		return
	}
	fmt.Fprintf(to, "switch %s {\n", names(k.by)[parameter])
	for _, value := range order {
		fmt.Fprintf(to, "case %s:\n", value)
		k.pick(to, s, cases[value], parameter+1)
	}
	fmt.Fprintf(to, "default:\npanic(\"%s: %s has no such member\")\n}\n", k.room, k.call)
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
