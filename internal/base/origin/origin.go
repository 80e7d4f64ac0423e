// Package origin tells requests that a page of another site made a browser send.
//
// Such a request says so in its Origin or Sec-Fetch-Site header. A site whose name changes to this computer's address (DNS rebinding) is told by
// the Host header, which then is not a name of this computer.
package origin

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// IsLocal reports whether a Host header names this computer. The port may be that of a tunnel.
func IsLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// IsOther reports whether the Origin header names another site than the one asked. Without the header, it does not.
func IsOther(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host)
}

// IsLink reports whether Sec-Fetch-Site says that another site's page made the request, be it by a link.
func IsLink(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none": // none: typed by the user
		return false
	}
	return true
}

// HasToken reports whether a request has a token in its Authorization header, as Bearer TOKEN. The scheme may be in any case.
func HasToken(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimLeft(given, " ")), []byte(token)) == 1
}
