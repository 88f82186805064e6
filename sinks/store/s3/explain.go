package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Codes of errors that mean something to this package.
const (
	codePrecondition   = "PreconditionFailed"
	codeConflict       = "ConditionalRequestConflict"
	codeNoSuchUpload   = "NoSuchUpload"
	codeInvalidPart    = "InvalidPart"
	codeNotImplemented = "NotImplemented"
)

// code returns the code of a server's error, "" if it is not one. For an answer without a body, as those to HEAD are,
// the SDK makes it up from the status; the ones that matter here are made the same.
func code(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	switch status(err) {
	case http.StatusPreconditionFailed:
		return codePrecondition
	case http.StatusNotImplemented:
		return codeNotImplemented
	}
	return api.ErrorCode()
}

// status returns the status of the answer that was an error, 0 if there was none.
func status(err error) int {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}

// isMissing reports whether an error says that an object is not there.
func isMissing(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	switch code(err) {
	case "NoSuchKey", "NotFound":
		return true
	}
	return false
}

// explain adds to an error what was being done and what to do about it. key may be "". It returns nil for nil, and
// errors that were explained as they are.
func (c *client) explain(op, key string, err error) error {
	var done *bucket.Explained
	switch {
	case err == nil || errors.As(err, &done):
		return err
	case isMissing(err) && key != "":
		return &bucket.Explained{Text: fmt.Sprintf("%s %s: no such object", op, c.URL(key)), Kind: fs.ErrNotExist, Cause: err}
	case errors.Is(err, context.Canceled):
		return err
	}
	e := &bucket.Explained{Text: fmt.Sprintf("%s %s: %s: %v", op, c.URL(key), c.advice(op, err), err), Cause: err}
	switch {
	case status(err) == http.StatusForbidden:
		e.Kind = fs.ErrPermission
	case code(err) == codeNoSuchUpload:
		e.Kind = bucket.ErrNoUpload
	case code(err) == codeInvalidPart:
		e.Kind = bucket.ErrDisturbed
	}
	return e
}

// advice says what to do about an error.
func (c *client) advice(op string, err error) string {
	switch code := code(err); {
	case code == "NoSuchBucket" || op == "HeadBucket" && status(err) == http.StatusNotFound:
		return fmt.Sprintf("there is no bucket %s: create it, or correct the path", c.bucket)
	case code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException" || status(err) == http.StatusMovedPermanently:
		return "the bucket is in another region: set " + c.opts.service().Option("region") + regionOf(err)
	case isExpired(err):
		return c.gaveUp("the credentials have expired: " + renewAdvice + " and start again")
	case code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "InvalidToken" || status(err) == http.StatusUnauthorized:
		return "the server does not accept the credentials: correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile, or the role"
	case op == "HeadBucket" && status(err) == http.StatusBadRequest: // without a body, so without a reason
		return "the server refuses this without a reason: see whether the credentials have expired, and whether " + c.opts.service().Option("region") + " is that of the bucket"
	case code == "RequestTimeTooSkewed":
		return "the clock of this machine is wrong: set it"
	case status(err) == http.StatusForbidden:
		action, _, _ := strings.Cut(op, " ")
		return fmt.Sprintf("the credentials do not allow this: allow the actions that docs/s3.md lists in %s (this was %s)", c.Location(), action)
	case code == "QuotaExceeded" || code == "EntityTooLarge" || code == "XMinioStorageFull" || status(err) == http.StatusInsufficientStorage:
		return "the server has no space left for this: free some, raise the quota, or give another path"
	case code == "SlowDown" || status(err) == http.StatusServiceUnavailable || status(err) == http.StatusTooManyRequests:
		return c.gaveUp("the server cannot take so many requests: " + c.opts.service().Relief())
	case errors.Is(err, bucket.ErrEndless):
		return "the server does not list its keys as S3 does: give another one (docs/s3.md lists servers that were tried)"
	case code == codeNotImplemented:
		return "the server does not know such a request"
	case status(err) >= http.StatusInternalServerError:
		return c.gaveUp("the server is in trouble: look into its log or its status page, and start again when it is well")
	case code == "" && strings.Contains(err.Error(), "get identity: get credentials"):
		return "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or give this machine a role"
	case unreachable(err):
		return c.gaveUp("the server cannot be reached, or does not answer in " + c.opts.Timeout.String() + ": correct " + c.opts.service().Option("endpoint") + ", look at the network, or raise timeout there")
	}
	return "the server refuses this"
}

// gaveUp says how long was tried before the advice.
func (c *client) gaveUp(advice string) string {
	return fmt.Sprintf("failed after %d attempts; %s", c.opts.Attempts, advice)
}

// unreachable reports whether an error comes from the network and not from the server.
func unreachable(err error) bool {
	var e net.Error
	var sending *smithy.OperationError
	return errors.As(err, &e) || errors.As(err, &sending) && status(err) == 0 && code(err) == ""
}

// regionOf returns the region that an answer names.
func regionOf(err error) string {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		if region := answer.Response.Header.Get("X-Amz-Bucket-Region"); region != "" {
			return " to " + region
		}
	}
	return ""
}

func unquote(etag *string) string {
	if etag == nil {
		return ""
	}
	return strings.Trim(*etag, `"`)
}
