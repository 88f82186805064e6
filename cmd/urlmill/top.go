package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/top"
	"github.com/urlmill/urlmill/internal/admin"
)

// topFlags are the flags of "urlmill top".
type topFlags struct {
	once              bool
	every             time.Duration
	tokenFile, caFile string
}

func newTop(a *app) *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top [ADDRESS]",
		Short: "Show what a running pipeline does, live",
		Long: `Show in the terminal what a running pipeline does: its problems, rows and errors a second, lag, memory, and each lane. It asks
the listener that admin in the configuration starts; ADDRESS is admin.listen, or a URL where there is TLS.

It goes on until SIGINT or SIGTERM, also while nothing answers. With --once it prints what there is now and ends, with the
exit code 1 if nothing answers.`,
		Example: `  urlmill top
  urlmill top https://mill-1:8717 --token-file /run/secrets/urlmill-token --ca-file ca.pem
  urlmill top localhost:8717 --once`,
		Args: args(0, 1, "at most one address"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.once, "once", false, "print it once, for scripts")
	flags.DurationVar(&f.every, "every", time.Second, "how often to ask")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token of admin.token")
	flags.StringVar(&f.caFile, "ca-file", "", "certificates (PEM) to trust (default: the system's)")
	cmd.RunE = func(cmd *cobra.Command, addresses []string) error {
		c, err := f.client(append(addresses, admin.Default().Listen)[0])
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if f.once {
			if err := c.Update(ctx); err != nil {
				return err
			}
			_, err := fmt.Fprintln(a.out, strings.Join(c.Lines(), "\n"))
			return err
		}
		out, ok := a.out.(*os.File)
		if !ok || terminalWidth(a.out) == 0 {
			return usagef("standard output is no terminal; give --once")
		}
		return f.watch(ctx, out, c)
	}
	return cmd
}

// client returns what asks the listener at an address.
func (f topFlags) client(address string) (*top.Client, error) {
	const least, patience = 100 * time.Millisecond, 5 * time.Second
	if f.every < least {
		return nil, usagef("--every is %s; give %s or more", f.every, least)
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, usagef("%q is no address; give one such as 127.0.0.1:8717 or https://mill-1:8717", address)
	}
	c := &top.Client{Base: base}
	if f.tokenFile != "" {
		token, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--token-file: %w", err)}
		}
		c.Token = strings.TrimSpace(string(token))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if f.caFile != "" {
		pem, err := os.ReadFile(f.caFile)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--ca-file: %w", err)}
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef("--ca-file: %s has no certificate (PEM)", f.caFile)
		}
	}
	// A token is for the address that was given, and for no other that it leads to.
	c.HTTP = &http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// watch shows it on a terminal until ctx ends.
func (f topFlags) watch(ctx context.Context, out *os.File, c *top.Client) error {
	const enter, leave = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l" // the other screen, without a cursor
	if _, err := io.WriteString(out, enter); err != nil {
		return err
	}
	defer func() { _, _ = io.WriteString(out, leave) }()
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for known := false; ; {
		var lines []string
		err := c.Update(ctx)
		known = known || err == nil
		if known {
			lines = c.Lines()
		}
		if err != nil {
			lines = append([]string{"NO ANSWER  " + plain.Text(err.Error())}, lines...)
		}
		width, height, sizeErr := term.GetSize(int(out.Fd()))
		if sizeErr != nil {
			return sizeErr
		}
		if _, err := io.WriteString(out, top.Frame(lines, width, height)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
