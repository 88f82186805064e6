package dbtest

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/urlmill/urlmill/internal/testproc"
)

// Postgres starts a PostgreSQL server of its own and returns its address and the end of a connection string for it. Without
// one on this machine it skips the test, or fails it when URLMILL_REQUIRE_POSTGRES is 1.
func Postgres(tb testing.TB) (address, database string) {
	tb.Helper()
	const where = "/usr/lib/postgresql/*/bin/"
	initdb, postgres := program("initdb", where+"initdb"), program("postgres", where+"postgres")
	if initdb == "" || postgres == "" {
		testproc.Missing(tb, "URLMILL_REQUIRE_POSTGRES", "there is no PostgreSQL server: apt-get install postgresql")
	}
	s := newServer(tb)
	data := filepath.Join(s.dir, "data")
	if err := s.command(initdb, "-D", data, "-U", "urlmill", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").Run(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, &s.log)
	}
	port := testproc.Ports(tb, 1)[0]
	address, database = fmt.Sprintf("127.0.0.1:%d", port), "/postgres?sslmode=disable"
	// It listens before it lets anybody in. Asked to end, it would wait for its clients first.
	s.start(s.command(postgres, "-D", data, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-k", "", "-F"), syscall.SIGINT, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c, err := pgx.Connect(ctx, "postgres://urlmill@"+address+database)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	})
	return address, database
}
