package iceberg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxRequests is how often a request is made that the catalog cannot answer now.
	maxRequests = 5
	// maxRetryAfter is for how long a catalog may ask to be left alone. One that asks for longer is left alone until there is
	// something to be added the next time.
	maxRetryAfter = 30 * time.Second
)

// do makes a request, again if the catalog cannot answer now, and reads the answer into out, which may be nil. Making it
// twice must be as good as making it once.
func (c *rest) do(ctx context.Context, method, path string, in, out any) error {
	for n := 1; ; n++ {
		err := c.once(ctx, method, path, in, out)
		pause, again := pauseAfter(err, n)
		if !again {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// update makes a change to a table that is as base says. An attempt whose outcome is unknown is not made again before the
// table has been looked at: it may have been made, and then what was written for it must stay.
func (c *rest) update(ctx context.Context, table []string, base *state, s *snapshot, in any) error {
	namespace, name := parts(table)
	uncertain := false
	for n := 1; ; n++ {
		err := c.once(ctx, http.MethodPost, c.at(namespace, "tables", name), in, nil)
		if err == nil {
			return nil
		}
		if uncertain = uncertain || !isRefusal(err); uncertain {
			now, loadErr := c.load(ctx, table)
			switch {
			case loadErr != nil:
				return errors.Join(err, loadErr)
			case s != nil && now.meta.snapshot(&s.ID) != nil:
				return nil
			case !now.same(base): // it cannot be made any more
				return fmt.Errorf("%w: %w: %w", errConflict, errUncertain, err)
			}
		} else if isStatus(err, http.StatusConflict) {
			return fmt.Errorf("%w: %w", errConflict, err)
		}
		pause, again := pauseAfter(err, n)
		if !again {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// same reports whether nobody has changed the table between two moments in what commits are conditional on.
func (s *state) same(o *state) bool {
	return s.meta.UUID == o.meta.UUID && s.meta.CurrentSchema == o.meta.CurrentSchema && s.meta.LastColumn == o.meta.LastColumn &&
		string(encode(s.meta.Current)) == string(encode(o.meta.Current))
}

// isRefusal reports whether an error says that a request has changed nothing.
func isRefusal(err error) bool {
	var e *restError
	return errors.As(err, &e) && e.status/100 == 4
}

// pauseAfter returns how long to wait after the nth attempt of a request, and whether to make another one.
func pauseAfter(err error, n int) (time.Duration, bool) {
	var e *restError
	if !errors.As(err, &e) || n >= maxRequests || e.after > maxRetryAfter {
		return 0, false
	}
	switch e.status {
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return 0, false
	case http.StatusTooManyRequests:
	default:
		if e.status < http.StatusInternalServerError {
			return 0, false
		}
	}
	pause := min(maxWait, wait<<n)
	return max(e.after, pause/2+rand.N(pause)), true
}

// retryAfter returns what an answer says of when to come again, 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(v, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
