package page

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/origin"
)

// newToken returns 128 random bits as text.
func newToken() string { return rand.Text() }

// guard answers only requests that the page itself can have made, and users who typed its address.
//
// Other sites' pages can make a browser send requests here. Their Origin or Sec-Fetch-Site headers tell. A site whose name changes to this
// computer's address (DNS rebinding) is told by the Host header: without a token for reading, that must be a name of this computer.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !s.open && !origin.IsLocal(r.Host):
			http.Error(w, "this page answers only to names of this computer, as localhost", http.StatusForbidden)
		case isCrossSite(r):
			http.Error(w, "this request comes from another site", http.StatusForbidden)
		case s.needsToken(r) && !origin.HasToken(r, s.cfg.Token):
			http.Error(w, "this needs the token", http.StatusUnauthorized)
		case r.ContentLength != 0:
			h.Set("Connection", "close") // the server need not read the body
			http.Error(w, "no request has a body here", http.StatusRequestEntityTooLarge)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isCrossSite reports whether another site's page made a request. A link from elsewhere may open the page.
func isCrossSite(r *http.Request) bool {
	if origin.IsLink(r) {
		return r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, apiPrefix)
	}
	return origin.IsOther(r)
}

// apiPrefix is the path of everything but the page's own files, which are the same for every run.
const apiPrefix = "/api/"

const metricsPath = "/metrics"

// needsToken reports whether a request needs the token: on an open address everything about the run, else the buttons.
func (s *Server) needsToken(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead || s.open && (strings.HasPrefix(r.URL.Path, apiPrefix) || r.URL.Path == metricsPath)
}
