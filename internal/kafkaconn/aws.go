//go:build !core

package kafkaconn

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/urlmill/urlmill/config"
)

// awsTokenLife is how long a token of Amazon MSK is good, the longest that it takes.
const awsTokenLife = 15 * time.Minute

// awsFetcher returns what makes tokens for Amazon MSK: a request to connect that is signed and never sent, as
// aws-msk-iam-sasl-signer-go makes it. Credentials and region come from the SDK's own chain, as for S3.
func awsFetcher(s SASL) func(context.Context) (token, error) {
	return func(ctx context.Context) (token, error) {
		load := []func(*awsconfig.LoadOptions) error{awsconfig.WithAppID("urlmill")}
		if s.AWSRegion != "" {
			load = append(load, awsconfig.WithRegion(s.AWSRegion))
		}
		if s.AWSProfile != "" {
			load = append(load, awsconfig.WithSharedConfigProfile(s.AWSProfile))
		}
		cfg, err := awsconfig.LoadDefaultConfig(ctx, load...)
		if err != nil {
			return token{}, &FatalError{fmt.Errorf("the configuration in the environment and in AWS's shared configuration files cannot be used: %w", err), "check aws_profile"}
		}
		if cfg.Region == "" {
			return token{}, &FatalError{fmt.Errorf("the region of the brokers is not known"), "set aws_region, or the environment variable AWS_REGION"}
		}
		credentials, err := cfg.Credentials.Retrieve(ctx)
		if err != nil {
			return token{}, &tokenError{"no credentials of AWS: " + clip(withoutTokens(err.Error())), "give them as for S3 (docs/s3.md, Credentials)"}
		}
		now := time.Now()
		query := url.Values{"Action": {"kafka-cluster:Connect"}, "X-Amz-Expires": {strconv.Itoa(int(awsTokenLife.Seconds()))}}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://kafka."+cfg.Region+".amazonaws.com/?"+query.Encode(), nil)
		if err != nil {
			return token{}, &FatalError{err, "check aws_region"}
		}
		nothing := sha256.Sum256(nil)
		signed, _, err := v4.NewSigner().PresignHTTP(ctx, credentials, request, hex.EncodeToString(nothing[:]), "kafka-cluster", cfg.Region, now)
		if err != nil {
			return token{}, &tokenError{"no token could be signed: " + clip(withoutTokens(err.Error())), "check the credentials of AWS"}
		}
		ends := now.Add(awsTokenLife)
		if credentials.CanExpire && credentials.Expires.Before(ends) {
			ends = credentials.Expires
		}
		return token{config.Secret(base64.RawURLEncoding.EncodeToString([]byte(signed + "&User-Agent=urlmill"))), ends}, nil
	}
}
