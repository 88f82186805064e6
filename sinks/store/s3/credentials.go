package s3

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// expiredCodes say that credentials were valid once.
var expiredCodes = []string{"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}

func isExpired(err error) bool { return slices.Contains(expiredCodes, code(err)) }

const renewAdvice = "renew them where they come from (docs/s3.md, Credentials)"

// renewable provides credentials that can be looked up anew. The SDK asks providers for others before those that they gave
// expire, as far as they say when that is; files and the environment do not, and whoever changes them expects to be heard.
type renewable struct {
	load func(context.Context) (aws.CredentialsProvider, error)

	mu      sync.Mutex
	current aws.CredentialsProvider
	stale   bool
}

// renewing returns a provider that begins with first, and what makes it look for others by load.
func renewing(first aws.CredentialsProvider, load func(context.Context) (aws.CredentialsProvider, error)) (provider aws.CredentialsProvider, expired func()) {
	r := &renewable{load: load, current: first}
	cache := aws.NewCredentialsCache(r)
	return cache, func() {
		r.mu.Lock()
		r.stale = true
		r.mu.Unlock()
		cache.Invalidate()
	}
}

// Retrieve implements [aws.CredentialsProvider]. Files that cannot be read at the moment leave it at what there was: somebody
// may be writing them.
func (r *renewable) Retrieve(ctx context.Context) (aws.Credentials, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stale {
		if fresh, err := r.load(ctx); err == nil {
			if c, err := fresh.Retrieve(ctx); err == nil {
				r.current, r.stale = fresh, false
				return c, nil
			}
		}
	}
	return r.current.Retrieve(ctx)
}
