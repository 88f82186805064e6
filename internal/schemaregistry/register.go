package schemaregistry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/twmb/franz-go/pkg/sr"
)

// RefusedError says that the registry has looked at what it was asked and said no: the same request gives the same
// answer.
type RefusedError struct {
	Status  int    // of HTTP
	Message string // the registry's own words
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the registry answers %d: %s", e.Status, e.Message)
}

// Login reports whether it is the login that is refused, or the rights that it has.
func (e *RefusedError) Login() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
}

// Incompatible reports whether the schema is refused because of those that the subject has.
func (e *RefusedError) Incompatible() bool { return e.Status == http.StatusConflict }

// refusals are the statuses that do not change by waiting. That of a lease between instances, 423, and of too many
// requests, 429, do.
var refusals = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity,
}

// refused is classify for requests of a sink, of which some are refused for good.
func refused(err error) error {
	var answer *sr.ResponseError
	if errors.As(err, &answer) && slices.Contains(refusals, answer.StatusCode) {
		message := answer.Message
		if message == "" {
			message = string(answer.Raw[:min(len(answer.Raw), 500)])
		}
		return &RefusedError{answer.StatusCode, message}
	}
	return classify(err)
}

// Register makes a schema, of which only type and text count, one of the subject's unless it is one already, and returns
// its id. The error is a [*RefusedError] when asking again is of no use.
func (c *Client) Register(ctx context.Context, subject string, s Schema) (uint32, error) {
	wire, err := wireSchema(s)
	if err != nil {
		return 0, err
	}
	id, err := c.client.RegisterSchema(ctx, subject, wire, -1, -1)
	if err != nil {
		return 0, fmt.Errorf("subject %s: %w", subject, refused(err))
	}
	return checkID(subject, id)
}

// Find returns the id of a schema of the subject: of s itself, or else of the newest that same takes for it. The error is
// a [*NotFoundError] when there is none, and a [*RefusedError] when asking again is of no use.
func (c *Client) Find(ctx context.Context, subject string, s Schema, same func(text string) bool) (uint32, error) {
	wire, err := wireSchema(s)
	if err != nil {
		return 0, err
	}
	found, err := c.client.LookupSchema(ctx, subject, wire)
	if err == nil {
		return checkID(subject, found.ID)
	}
	err = refused(err)
	var unknown *NotFoundError
	if !errors.As(err, &unknown) {
		return 0, fmt.Errorf("subject %s: %w", subject, err)
	}
	versions, listErr := c.client.SubjectVersions(ctx, subject)
	if listErr != nil {
		return 0, fmt.Errorf("subject %s: %w", subject, refused(listErr))
	}
	slices.Sort(versions)
	for _, version := range slices.Backward(versions) {
		candidate, err := c.client.SchemaByVersion(ctx, subject, version)
		if err != nil {
			return 0, fmt.Errorf("subject %s, version %d: %w", subject, version, refused(err))
		}
		if candidate.Type == wire.Type && len(candidate.References) == 0 && same(candidate.Schema.Schema) {
			return checkID(subject, candidate.ID)
		}
	}
	return 0, fmt.Errorf("subject %s: %w", subject, err)
}

func wireSchema(s Schema) (sr.Schema, error) {
	out := sr.Schema{Schema: s.Text}
	err := out.Type.UnmarshalText([]byte(s.Type))
	return out, err
}

// checkID refuses what has no place in the header of a record.
func checkID(subject string, id int) (uint32, error) {
	if id < 1 || id > math.MaxInt32 {
		return 0, fmt.Errorf("subject %s: the registry gives the schema the id %d", subject, id)
	}
	return uint32(id), nil
}
