package regular

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestWalk follows links to files and folders, also the root, and ends in spite of links to folders that they lie in.
func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"photos/a", "photos/b/deep", "elsewhere/c"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"photos/a/1", "photos/b/deep/2", "elsewhere/3", "elsewhere/c/4"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"root": "photos", "photos/a/3": "../../elsewhere/3", "photos/far": "../elsewhere", "photos/b/up": "..", "photos/nowhere": "nothing", "elsewhere/c/back": "../../photos",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	walk := func(skip string) (files []string) {
		root := filepath.Join(dir, "root")
		err := Walk(root, func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			switch {
			case err != nil:
				return err
			case name == skip:
				return fs.SkipDir
			case !d.IsDir():
				files = append(files, filepath.ToSlash(name))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if got, want := walk("none"), []string{"a/1", "a/3", "b/deep/2", "far/3", "far/c/4", "nowhere"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	if got, want := walk("far"), []string{"a/1", "a/3", "b/deep/2", "nowhere"}; !reflect.DeepEqual(got, want) {
		t.Errorf("without a folder the files are %q, want %q", got, want)
	}
	if got, want := walk("a/1"), []string{"b/deep/2", "far/3", "far/c/4", "nowhere"}; !reflect.DeepEqual(got, want) {
		t.Errorf("with the rest of a folder skipped the files are %q, want %q", got, want)
	}
	calls := 0
	if err := Walk(filepath.Join(dir, "absent"), func(_ string, _ fs.DirEntry, err error) error { calls++; return err }); !os.IsNotExist(err) || calls != 1 {
		t.Errorf("an absent root: %v after %d calls", err, calls)
	}
}
