package dbtest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequirePostgres names the variable that makes a server that is not there an error, when it is 1.
const EnvRequirePostgres = "URLMILL_REQUIRE_POSTGRES"

// Postgres starts a PostgreSQL server of its own and returns its address and the end of a connection string for it. Without
// one on this machine it skips the test, or fails it when URLMILL_REQUIRE_POSTGRES is 1.
func Postgres(tb testing.TB) (address, database string) {
	tb.Helper()
	s := NewPostgres(tb)
	return s.Address, s.Database
}

// PostgresServer is a server that can be killed and started again.
type PostgresServer struct {
	Address  string
	Database string // the end of a connection string

	server  *server
	command func() *exec.Cmd
	process *testproc.Process
}

// NewPostgres is [Postgres] for a test that kills it.
func NewPostgres(tb testing.TB) *PostgresServer {
	tb.Helper()
	const where = "/usr/lib/postgresql/*/bin/"
	initdb, postgres := program("initdb", where+"initdb"), program("postgres", where+"postgres")
	if initdb == "" || postgres == "" {
		testproc.Missing(tb, EnvRequirePostgres, "there is no PostgreSQL server: apt-get install postgresql")
	}
	s := newServer(tb)
	data := filepath.Join(s.dir, "data")
	if err := s.command(initdb, "-D", data, "-U", "urlmill", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").Run(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, &s.log)
	}
	port := testproc.Ports(tb, 1)[0]
	p := &PostgresServer{Address: fmt.Sprintf("127.0.0.1:%d", port), Database: "/postgres?sslmode=disable", server: s}
	p.command = func() *exec.Cmd {
		return s.command(postgres, "-D", data, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-k", "", "-F")
	}
	p.Start()
	return p
}

// Start starts the server, and returns when it lets clients in: it listens before, and one that was killed first recovers,
// and waits for the processes that it had.
func (p *PostgresServer) Start() {
	p.server.tb.Helper()
	// Asked to end by SIGTERM, it would wait for its clients first.
	p.process = p.server.start(p.command(), syscall.SIGINT, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c, err := pgx.Connect(ctx, "postgres://urlmill@"+p.Address+p.Database)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	})
}

// Kill ends the server at once: with SIGQUIT all of its processes, which leave everything as it is. SIGKILL would leave some
// of them behind for a while.
func (p *PostgresServer) Kill() {
	p.process.Signal(syscall.SIGQUIT)
	if !p.process.Within(patience) {
		p.process.Kill()
	}
}
