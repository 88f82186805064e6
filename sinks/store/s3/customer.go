package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"os"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/urlmill/urlmill/config"
)

// customerKeyBytes is how long a key is that is given with each request (SSE-C).
const customerKeyBytes = 32

// customerKeyVariable has that key for commands, which have no configuration.
const customerKeyVariable = "URLMILL_S3_CUSTOMER_KEY"

// Environ sets what commands take from the environment, beside what AWS's own tools do.
func (o *Options) Environ() { o.CustomerKey = config.Secret(os.Getenv(customerKeyVariable)) }

var (
	errCustomerKey = errors.New("is not 32 bytes in base64, as openssl rand -base64 32 makes them")
	errPlainKey    = errors.New("would be sent to a server without TLS, where anybody on the way has it: give an endpoint that begins with https://")
)

// checkCustomerKey returns what is wrong with the key, or with the endpoint that it would be sent to.
func (o Options) checkCustomerKey(endpoint string) error {
	key, err := base64.StdEncoding.DecodeString(string(o.CustomerKey))
	switch {
	case o.CustomerKey == "":
		return nil
	case err != nil || len(key) != customerKeyBytes:
		return errCustomerKey
	case strings.HasPrefix(endpoint, "http:"):
		return errPlainKey
	}
	return nil
}

// bringKey returns what adds the key to the requests that read and write objects. The server keeps a checksum of it alone.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerSideEncryptionCustomerKeys.html
func (o Options) bringKey() func(*middleware.Stack) error {
	key, _ := base64.StdEncoding.DecodeString(string(o.CustomerKey)) // it has been checked
	sum := md5.Sum(key)
	headers := map[string]string{
		"X-Amz-Server-Side-Encryption-Customer-Algorithm": "AES256",
		"X-Amz-Server-Side-Encryption-Customer-Key":       base64.StdEncoding.EncodeToString(key),
		"X-Amz-Server-Side-Encryption-Customer-Key-Md5":   base64.StdEncoding.EncodeToString(sum[:]),
	}
	bring := middleware.BuildMiddlewareFunc("urlmill-customer-key", func(
		ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
	) (middleware.BuildOutput, middleware.Metadata, error) {
		r, ok := in.Request.(*smithyhttp.Request)
		switch awsmiddleware.GetOperationName(ctx) {
		case "PutObject", "GetObject", "HeadObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "ListParts":
			for name, value := range headers {
				if ok {
					r.Header.Set(name, value)
				}
			}
		}
		return next.HandleBuild(ctx, in)
	})
	return func(stack *middleware.Stack) error { return stack.Build.Add(bring, middleware.After) }
}
