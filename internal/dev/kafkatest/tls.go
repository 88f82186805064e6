package kafkatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const (
	caFile       = "ca.pem"
	keyStoreFile = "keystore.pem"
)

// Certificate writes the certificate of a new authority to a file and returns the file's path and a server
// certificate for 127.0.0.1 and localhost that the authority has signed.
func Certificate(tb testing.TB) (authority string, server tls.Certificate) {
	tb.Helper()
	dir := tb.TempDir()
	if err := writeCertificates(dir); err != nil {
		tb.Fatal(err)
	}
	store := filepath.Join(dir, keyStoreFile)
	server, err := tls.LoadX509KeyPair(store, store)
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(dir, caFile), server
}

// writeCertificates makes an authority and a server certificate signed by it: caFile gets the authority's
// certificate, keyStoreFile the server's key and certificate, in the one-file PEM form that Kafka reads.
func writeCertificates(dir string) error {
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "urlmill test authority"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:    ca.NotBefore,
		NotAfter:     ca.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, ca, serverKey.Public(), caKey)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		return err
	}
	caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	store := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	store = append(store, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serverDER})...)
	store = append(store, caPEM...)
	if err := os.WriteFile(filepath.Join(dir, caFile), caPEM, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, keyStoreFile), store, 0o600)
}

// ClientTLS returns a configuration that trusts the authority of caFile alone.
func ClientTLS(tb testing.TB, caFile string) *tls.Config {
	tb.Helper()
	pemData, err := os.ReadFile(caFile)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pemData) {
		tb.Fatalf("%s holds no certificate", caFile)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}
