package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// regionOfOthers is what servers other than Amazon's mostly take for their own.
const regionOfOthers = "us-east-1"

// newClient returns a client for all stores with the options. It reads the environment and the shared configuration
// files, and makes no request.
func newClient(ctx context.Context, o Options) (*s3.Client, error) {
	retryer := newRetryer(o)
	cfg, expired, err := loadConfig(ctx, o, config.WithRetryer(func() aws.Retryer { return retryer }))
	if err != nil {
		return nil, err
	}
	cfg.APIOptions = append(cfg.APIOptions, o.watch(retryer.IsErrorRetryable, expired))
	client := s3.NewFromConfig(cfg, func(s *s3.Options) { o.apply(s) })
	if err := o.checkCustomerKey(aws.ToString(client.Options().BaseEndpoint)); err != nil {
		return nil, fmt.Errorf("the key in %s %w", o.service().Option("customer_key"), err)
	}
	if client.Options().Region == "" {
		return nil, errors.New("the region of the bucket is not known: set " + o.service().Option("region") + ", or the environment variable AWS_REGION")
	}
	return client, nil
}

// loadConfig returns what the environment and the shared configuration files say, with credentials that are looked up anew after
// expired was called.
func loadConfig(ctx context.Context, o Options, load ...func(*config.LoadOptions) error) (cfg aws.Config, expired func(), err error) {
	load = append(load, config.WithHTTPClient(httpClient(o)), config.WithAppID("urlmill"))
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Credentials != nil {
		load = append(load, config.WithCredentialsProvider(o.Credentials))
	}
	cfg, err = config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return cfg, nil, fmt.Errorf("the configuration for S3 in the environment and in AWS's shared configuration files cannot be used: %w", err)
	}
	cfg.Credentials, expired = renewing(cfg.Credentials, func(ctx context.Context) (aws.CredentialsProvider, error) {
		cfg, err := config.LoadDefaultConfig(ctx, load...)
		return cfg.Credentials, err
	})
	return cfg, expired, nil
}

// apply sets the options of a client, which has those of the environment already.
func (o Options) apply(s *s3.Options) {
	if o.Transport != nil {
		s.HTTPClient = &http.Client{Transport: o.Transport, Timeout: o.Timeout}
	}
	if o.Endpoint != "" {
		s.BaseEndpoint = &o.Endpoint
	}
	if aws.ToString(s.BaseEndpoint) == "" {
		s.BaseEndpoint = nil // a variable that is set to nothing
	}
	s.UsePathStyle = o.Addressing == AddressingPath || o.Addressing == "" && s.BaseEndpoint != nil
	if s.Region == "" && s.BaseEndpoint != nil {
		s.Region = regionOfOthers
	}
	if o.CustomerKey != "" {
		s.APIOptions = append(s.APIOptions, o.bringKey())
	}
	// Checksums are computed by this package, which knows the bytes, and sent in a header: not every server knows
	// the trailers that the SDK would use.
	s.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	s.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	if s.BaseEndpoint == nil || strings.HasPrefix(*s.BaseEndpoint, "https:") {
		// TLS protects the bytes already. SHA-256 of all of them would cost a tenth of a core at 60 MB/s.
		s.APIOptions = append(s.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
	}
}

// httpClient returns a client with a limit of time for each attempt of a request, its answer included.
func httpClient(o Options) config.HTTPClient {
	return awshttp.NewBuildableClient().WithTimeout(o.Timeout).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 2*o.Parallel + 8 // parts, and the commits of several lanes
	})
}

// newRetryer returns what repeats requests: after 5xx, connections that broke, limits of time, and credentials that have
// expired, with random pauses that double up to 20 s.
func newRetryer(o Options) aws.Retryer {
	return retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts = o.Attempts
		// The SDK's budget of retries for all requests together would make how often one is tried a matter of
		// luck; the number of attempts bounds it already.
		s.RateLimiter = ratelimit.None
		s.Retryables = append(s.Retryables, retry.RetryableErrorCode{Codes: map[string]struct{}{
			// Of an exclusive create that met another request for the same key. The next try tells who was first.
			codeConflict: {},
			// Of requests that met another one for the same upload.
			"OperationAborted": {}, "InternalError": {}, "ServiceUnavailable": {}, "IncompleteBody": {}, "BadDigest": {},
		}})
		expired := retry.RetryableErrorCode{Codes: map[string]struct{}{}}
		for _, c := range expiredCodes {
			expired.Codes[c] = struct{}{}
		}
		s.Retryables = append(s.Retryables, expired)
		if o.Pause != nil {
			s.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) { return o.Pause(attempt), nil })
		}
	})
}
