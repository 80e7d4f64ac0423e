//go:build !linux

package cli

// renameNew renames to a name that nothing has; that something has it is fs.ErrExist.
func renameNew(from, to string) error { return renameChecked(from, to) }
