package serve

import (
	"crypto/tls"
	"fmt"
	"sync"
)

// certificate is that of the server, read again when its files have changed: certificates are renewed while servers run.
type certificate struct {
	cert, key string // files
	errorf    func(format string, args ...any)

	mu    sync.Mutex
	pair  *tls.Certificate
	stamp string // of the files that pair, or the last failure, is of
}

// read reads the files.
func (c *certificate) read() error {
	c.stamp = stampOf(c.cert) + stampOf(c.key)
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("-tls_cert %s and -tls_key %s: %w", c.cert, c.key, err)
	}
	c.pair = &pair
	return nil
}

// get returns the certificate for a connection. If changed files cannot be read, that is written to the log, and the old certificate stays.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stampOf(c.cert)+stampOf(c.key) != c.stamp {
		if err := c.read(); err != nil {
			c.errorf("the certificate stays as it was: %v", err)
		}
	}
	return c.pair, nil
}
