package origin

import (
	"net/http/httptest"
	"testing"
)

func TestIsLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:80": true, "127.0.0.1:8000": true, "127.9.9.9": true, "[::1]:8000": true, "[::1]": true,
		"example.com": false, "localhost.example.com:80": false, "192.168.0.1:80": false, "": false, "127.0.0.1.example.com": false,
	} {
		if IsLocal(host) != want {
			t.Errorf("host %q: local is %v", host, !want)
		}
	}
}

func TestOtherSites(t *testing.T) {
	for _, c := range []struct {
		origin, site string
		other, link  bool
	}{
		{"", "", false, false}, {"http://127.0.0.1:8000", "same-origin", false, false}, {"", "none", false, false},
		{"http://example.com", "cross-site", true, true}, {"null", "", true, false}, {"", "same-site", false, true}, {"http://127.0.0.1:8001", "", true, false},
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1:8000/", nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if IsOther(r) != c.other || IsLink(r) != c.link {
			t.Errorf("origin %q, site %q: other %v, link %v", c.origin, c.site, IsOther(r), IsLink(r))
		}
	}
}

func TestHasToken(t *testing.T) {
	for header, want := range map[string]bool{
		"Bearer secret": true, "bearer secret": true, "BEARER  secret": true, "Bearer secrets": false, "Bearer": false, "": false, "Basic secret": false, "Bearersecret": false, "secret": false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		if HasToken(r, "secret") != want {
			t.Errorf("%q: the token is there: %v", header, !want)
		}
	}
}
