//go:build !(linux && (amd64 || arm64))

package topology

// handleOnStack does nothing: no MPI is opened here.
func handleOnStack() {}
