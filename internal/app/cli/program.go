package cli

import (
	"path/filepath"
	"strings"
)

// program is the binary's role, given by the name it was called by: swcaffe, or one of Caffe's binaries through a link.
type program struct {
	name    string // as called, without folders
	command string // the only command of a tool
	brew    bool   // caffe, which has four commands
	instead string // for a tool that Caffe has deprecated: the replacement
}

// tool is one of Caffe's binaries. folder is its place in Caffe's build folder.
type tool struct {
	program
	folder string
}

// tools lists Caffe's binaries. Each also has its name with ".bin" appended.
func tools() []tool {
	list := []tool{{program{name: "caffe", brew: true}, "tools"}}
	add := func(folder string, names ...string) {
		for _, name := range names {
			list = append(list, tool{program{name: name, command: name}, folder})
		}
	}
	add("tools", "compute_image_mean", "convert_annoset", "convert_imageset", "extract_features", "get_image_size", "upgrade_net_proto_binary", "upgrade_net_proto_text", "upgrade_solver_proto_text")
	add("examples/mnist", "convert_mnist_data")
	add("examples/cifar10", "convert_cifar_data")
	add("examples/siamese", "convert_mnist_siamese_data")
	list = append(list, tool{program{name: "classification", command: "classify"}, "examples/cpp_classification"})
	for _, old := range []struct{ name, instead string }{
		{"train_net", "caffe train -solver=... [-snapshot=...]"},
		{"finetune_net", "caffe train -solver=... [-weights=...]"},
		{"test_net", "caffe test -model=... -weights=..."},
		{"net_speed_benchmark", "caffe time -model=... [-iterations=50]"},
		{"device_query", "caffe device_query"},
	} {
		list = append(list, tool{program{name: old.name, instead: old.instead}, "tools"})
	}
	return list
}

// ProgramNames lists the names of Caffe's binaries that this binary answers to.
func ProgramNames() (names []string) {
	for _, t := range tools() {
		names = append(names, t.name, t.name+binSuffix)
	}
	return names
}

// binSuffix is the ending in Caffe's build of the binaries behind its links.
const binSuffix = ".bin"

// programNamed returns the role for a path by which the binary was called. Any name that is not one of Caffe's means swcaffe.
func programNamed(path string) program {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	for _, t := range tools() {
		if t.name == strings.TrimSuffix(name, binSuffix) {
			p := t.program
			p.name = name
			return p
		}
	}
	return program{name: name}
}

// split extracts the command from a command line. For a tool, all words are arguments.
func (p program) split(cs Commands, args []string) (name string, rest []string, err error) {
	switch {
	case p.instead != "":
		return "", nil, Usagef("%s is deprecated, in Caffe too: use %s", p.name, p.instead)
	case p.command != "":
		return p.command, args, nil
	}
	name, rest = cs.Split(args)
	if p.brew && name != "" && name != "help" && !isBrew(name) {
		return "", nil, Usagef("unknown action %q: caffe has %s; swcaffe has more", name, strings.Join(brewCommands, ", "))
	}
	return name, rest, nil
}

// line returns the words that call a command.
func (p program) line(c Command) string {
	switch {
	case p.command != "":
		return p.name
	case p.brew:
		return p.name + " " + c.Name
	}
	return "swcaffe " + c.Name
}

// own rewrites a message about a command, to use the words by which the command was called.
func (p program) own(message string) string {
	if p.command == "" {
		return message
	}
	return strings.ReplaceAll(message, "swcaffe "+p.command, p.name)
}
