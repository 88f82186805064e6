package s3

import (
	"context"
	"log/slog"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// Trouble knows which requests are failing and being made again. Its zero value is ready, and it is safe for concurrent
// use.
type Trouble struct {
	mu      sync.Mutex
	failing map[*request]failure
	retries int64
	log     *slog.Logger // nil: none
	toldAt  time.Time    // the last warning
	told    bool         // a warning whose end has not been told
}

// request is an operation with all its attempts.
type request struct{ operation string }

type failure struct {
	since time.Time
	err   error // the latest
}

// warnEvery bounds the warnings: servers that are short of capacity fail single requests all the time.
const warnEvery = 10 * time.Second

// Get returns since when a request is failing that is tried again, and how it failed last, of several requests the one that
// has been at it longest; zero and nil when none is.
func (t *Trouble) Get() (since time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.failing {
		if err == nil || f.since.Before(since) {
			since, err = f.since, f.err
		}
	}
	return since, err
}

// Retries returns how often an attempt has failed that was not the last.
func (t *Trouble) Retries() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.retries
}

// failed notes that an attempt has failed. The first failure of a request is no news unless it says so.
func (t *Trouble) failed(r *request, err error, news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failing == nil {
		t.failing = make(map[*request]failure)
	}
	now := time.Now()
	before, again := t.failing[r]
	if !again {
		before.since = now
	}
	t.failing[r] = failure{before.since, err}
	t.retries++
	if t.log != nil && (again || news) && now.Sub(t.toldAt) >= warnEvery {
		t.toldAt, t.told = now, true
		message := "a request to S3 fails and is tried again"
		if isExpired(err) {
			message = "the credentials for S3 have expired and are looked up anew for every attempt: " + renewAdvice
		}
		t.log.Warn(message, "operation", r.operation, "since", before.since.Round(time.Millisecond), "error", err)
	}
}

// end notes that a request is through, whatever came of it.
func (t *Trouble) end(r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.failing[r]; !ok {
		return
	}
	delete(t.failing, r)
	if t.told && len(t.failing) == 0 {
		t.told = false
		t.log.Info("no request to S3 is failing any more")
	}
}

type requestKey struct{}

// watch returns what adds the watching of requests to a client's stack. retryable tells which errors are tried again, and
// expired is called after those of credentials that have expired.
func (t *Trouble) watch(retryable func(error) bool, expired func()) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		whole := middleware.InitializeMiddlewareFunc("urlmill-request", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			r := &request{awsmiddleware.GetOperationName(ctx)}
			defer t.end(r)
			return next.HandleInitialize(context.WithValue(ctx, requestKey{}, r), in)
		})
		attempt := middleware.FinalizeMiddlewareFunc("urlmill-attempt", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			r, _ := ctx.Value(requestKey{}).(*request)
			if err != nil && r != nil && ctx.Err() == nil && retryable(err) {
				t.failed(r, err, isExpired(err))
				if isExpired(err) {
					expired()
				}
			}
			return out, metadata, err
		})
		if err := stack.Initialize.Add(whole, middleware.After); err != nil {
			return err
		}
		return stack.Finalize.Insert(attempt, "Retry", middleware.After)
	}
}
