//go:build !linux

package cli

// renameNew renames a file, and fails with fs.ErrExist if the new name exists.
func renameNew(from, to string) error { return renameChecked(from, to) }
