package cli

import (
	"fmt"
	"path/filepath"
	"strings"
)

// program is what the binary is by the name that it was called by: swcaffe, or one of Caffe's binaries through a link.
type program struct {
	name    string // as called, without folders
	command string // the only command of a tool
	brew    bool   // caffe, which has four commands
	instead string // for a tool that Caffe has given up: what to use
}

// tool is one of Caffe's binaries. folder is where it stands in Caffe's build folder.
type tool struct {
	program
	folder string
}

// tools lists Caffe's binaries; each also goes by its name with ".bin".
func tools() []tool {
	list := []tool{{program{name: "caffe", brew: true}, "tools"}}
	add := func(folder string, names ...string) {
		for _, name := range names {
			list = append(list, tool{program{name: name, command: name}, folder})
		}
	}
	add("tools", "compute_image_mean", "convert_imageset", "extract_features", "upgrade_net_proto_binary", "upgrade_net_proto_text", "upgrade_solver_proto_text")
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

// ProgramNames are the names that the binary goes by beside its own.
func ProgramNames() (names []string) {
	for _, t := range tools() {
		names = append(names, t.name, t.name+binSuffix)
	}
	return names
}

// binSuffix is what Caffe's build puts behind the names of binaries that it makes links to.
const binSuffix = ".bin"

// programNamed finds what the binary is by the path that it was called by; any name that is not one of Caffe's is swcaffe.
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

// caffes reports whether the binary goes by a name of Caffe's.
func (p program) caffes() bool { return p.brew || p.command != "" || p.instead != "" }

// split takes the command out of a command line; of a tool all words are arguments.
func (p program) split(cs Commands, args []string) (name string, rest []string, err error) {
	switch {
	case p.instead != "":
		return "", nil, fmt.Errorf("%s is deprecated, in Caffe too: use %s", p.name, p.instead)
	case p.command != "":
		return p.command, args, nil
	}
	name, rest = cs.Split(args)
	if p.brew && name != "" && name != "help" && !isBrew(name) {
		return "", nil, fmt.Errorf("unknown action %q: caffe has %s; swcaffe has more", name, strings.Join(brewCommands, ", "))
	}
	return name, rest, nil
}

// line is how a command is called.
func (p program) line(c Command) string {
	switch {
	case p.command != "":
		return p.name
	case p.brew:
		return p.name + " " + c.Name
	}
	return "swcaffe " + c.Name
}

// own says a message about a command with the words that the command was called by.
func (p program) own(message string) string {
	if p.command == "" {
		return message
	}
	return strings.ReplaceAll(message, "swcaffe "+p.command, p.name)
}
