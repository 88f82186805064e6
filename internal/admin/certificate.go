package admin

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
)

// keyPair is the certificate that is shown, with its key. Files that were replaced, as Kubernetes and cert-manager do it, are read
// again at the next connection.
type keyPair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	shown  *tls.Certificate
	read   [2]os.FileInfo // what the files were when shown was read
	failed string         // the error that was told last, so that it is told once
}

// newKeyPair reads the files.
func newKeyPair(certFile, keyFile string, log *slog.Logger) (*keyPair, error) {
	k := &keyPair{certFile: certFile, keyFile: keyFile, log: log}
	var err error
	if k.read, err = k.stat(); err != nil {
		return nil, err
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	k.shown = &cert
	return k, err
}

func (k *keyPair) stat() (now [2]os.FileInfo, err error) {
	for i, name := range []string{k.certFile, k.keyFile} {
		if now[i], err = os.Stat(name); err != nil {
			return now, err
		}
	}
	return now, nil
}

// get is for [tls.Config.GetCertificate]. Files that do not fit each other may be half way through being replaced: the old
// certificate is shown until they do.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, err := k.stat()
	if err == nil && same(now, k.read) {
		return k.shown, nil
	}
	var cert tls.Certificate
	if err == nil {
		cert, err = tls.LoadX509KeyPair(k.certFile, k.keyFile)
	}
	if err == nil {
		k.shown, k.read, k.failed = &cert, now, ""
		k.log.Info("the admin listener has another certificate", "file", k.certFile)
		return k.shown, nil
	}
	if k.failed != err.Error() {
		k.failed = err.Error()
		k.log.Warn("the admin listener keeps its old certificate, as the new one cannot be read", "error", err)
	}
	return k.shown, nil
}

// same reports whether files are what they were.
func same(a, b [2]os.FileInfo) bool {
	for i := range a {
		if !os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size() {
			return false
		}
	}
	return true
}
