package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/proto/inferencepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// certify writes a certificate for 127.0.0.1 that certifies itself, and its key.
func certify(t *testing.T, cert, key string, number int64) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	b, err := x509.CreateCertificate(rand.Reader, form, form, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	k, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: k})))
	pool := x509.NewCertPool()
	c, err := x509.ParseCertificate(b)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(c)
	return pool
}

// TestTLS: both protocols are answered by TLS, at an open address with and without a token; a renewed certificate is taken in, a damaged one is not.
func TestTLS(t *testing.T) {
	cfg, log := config(t), &errorLog{}
	cfg.Cert, cfg.Key = filepath.Join(t.TempDir(), "c.pem"), filepath.Join(t.TempDir(), "k.pem")
	cfg.Address, cfg.Errorf = "0.0.0.0:0", log.errorf
	pool := certify(t, cfg.Cert, cfg.Key, 1)
	s, url := run(t, cfg)
	url = strings.Replace(url, "[::]", "127.0.0.1", 1)
	if !strings.HasPrefix(url, "https://") {
		t.Errorf("the address is %s", url)
	}
	number := func(pool *x509.CertPool) int64 { // of the certificate
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
		defer client.CloseIdleConnections()
		w, err := client.Get(url + "/v2")
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		if w.StatusCode != 200 || w.ProtoMajor != 2 {
			t.Errorf("status %d by HTTP/%d", w.StatusCode, w.ProtoMajor)
		}
		return w.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	ask := func() error {
		c, err := grpc.NewClient("passthrough:///"+strings.Replace(s.GRPC(), "[::]", "127.0.0.1", 1), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = invoke[inferencepb.ServerMetadataResponse](t.Context(), c, "ServerMetadata", &inferencepb.ServerMetadataRequest{})
		return err
	}
	if n := number(pool); n != 1 {
		t.Errorf("certificate %d, want 1", n)
	}
	if err := ask(); err != nil {
		t.Errorf("gRPC: %v", err)
	}
	pool = certify(t, cfg.Cert, cfg.Key, 12345)
	if n := number(pool); n != 12345 {
		t.Errorf("certificate %d, want the renewed one", n)
	}
	write(t, cfg.Cert, "damaged")
	if n := number(pool); n != 12345 || !strings.Contains(log.String(), "the certificate stays as it was") {
		t.Errorf("certificate %d after damage; the log: %s", n, log)
	}
	s.cfg.Token = "secret"
	if err := ask(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without the token: %v", err)
	}
	cfg.Key = cfg.Cert
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "-tls_cert") {
		t.Errorf("a damaged certificate: %v", err)
	}
}
