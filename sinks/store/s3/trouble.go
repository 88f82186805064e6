package s3

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Trouble knows which requests are failing and being made again.
type Trouble = bucket.Trouble

type requestKey struct{}

// watch returns what adds the watching of requests to a client's stack. retryable tells which errors are tried again, and
// expired is called after those of credentials that have expired.
func (o Options) watch(retryable func(error) bool, expired func()) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		whole := middleware.InitializeMiddlewareFunc("urlmill-request", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			r := &bucket.Request{Operation: awsmiddleware.GetOperationName(ctx), Service: service.Name, Log: o.Log}
			defer o.Trouble.End(r)
			return next.HandleInitialize(context.WithValue(ctx, requestKey{}, r), in)
		})
		attempt := middleware.FinalizeMiddlewareFunc("urlmill-attempt", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			r, _ := ctx.Value(requestKey{}).(*bucket.Request)
			if err != nil && r != nil && ctx.Err() == nil && retryable(err) {
				advice := ""
				if isExpired(err) {
					advice = renewAdvice
					expired()
				}
				o.Trouble.Failed(r, err, advice)
			}
			return out, metadata, err
		})
		if err := stack.Initialize.Add(whole, middleware.After); err != nil {
			return err
		}
		return stack.Finalize.Insert(attempt, "Retry", middleware.After)
	}
}
