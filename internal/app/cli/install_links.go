package cli

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// InstallLinks is the command install_links.
var InstallLinks = Command{
	Name:     "install_links",
	Synopsis: "make links by the names of Caffe's binaries, for Caffe's scripts",
	Args:     "DIR [-flat] [-force]",
	Example:  "swcaffe install_links build",
	Words:    []string{"dir"},
	Writes:   "dir",
	Help: `Makes symbolic links to this binary with the names of Caffe's binaries: caffe, convert_imageset and so on, each also with the ending
".bin". Called by such a name, the binary acts as this tool, with the tool's arguments. DIR gets the layout of Caffe's build folder,
DIR/tools/caffe, DIR/examples/mnist/convert_mnist_data.bin and so on. After "swcaffe install_links build" in a checkout of Caffe, Caffe's
scripts therefore run. With -flat all links are in DIR itself, for a folder of $PATH or for CAFFE_BIN of Caffe's scripts.

Existing links to a swcaffe are replaced. Any other file of such a name is an error without -force. Folders are never replaced.`,
	Do: With(linkFlags, installLinks),
}

func linkFlags(fs *flag.FlagSet, o *linkOptions) {
	StringVar(fs, &o.dir, "dir", "", "the `DIR` for the links; created if it does not exist", Folder)
	fs.BoolVar(&o.flat, "flat", false, "put all links into DIR itself")
	fs.BoolVar(&o.force, "force", false, "replace other files of these names")
}

type linkOptions struct {
	dir         string
	flat, force bool
}

// links lists the paths of the links below a folder.
func links(dir string, flat bool) (paths []string) {
	for _, t := range tools() {
		folder := filepath.Join(dir, filepath.FromSlash(t.folder))
		if flat {
			folder = dir
		}
		paths = append(paths, filepath.Join(folder, t.name), filepath.Join(folder, t.name+binSuffix))
	}
	return paths
}

func installLinks(e *Env, o *linkOptions) error {
	if o.dir == "" {
		return Usagef("need a folder: swcaffe install_links DIR")
	}
	if err := CheckFolder(o.dir, "the set of links"); err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot tell where this binary is: %w", err)
	}
	paths := links(o.dir, o.flat)
	for _, path := range paths { // check all links before making the first
		err = errors.Join(err, replaceable(path, binary, o.force))
	}
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := link(binary, path); err != nil {
			return err
		}
	}
	e.Log.Infof("Made %d links to %s in %s", len(paths), binary, o.dir)
	return nil
}

// replaceable fails if a link must not replace the file at a path.
func replaceable(path, binary string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; a link cannot replace it", path)
	case force:
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if target == binary || programNamed(target).name == "swcaffe" {
			return nil
		}
		return fmt.Errorf("%s is a link to %s already; -force replaces it", path, target)
	}
	return fmt.Errorf("%s exists already and is no link to a swcaffe; -force replaces it", path)
}

// link creates a link or replaces a file by it, without a moment in which the name is missing.
func link(target, path string) error {
	temporary := path + ".partial"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}
