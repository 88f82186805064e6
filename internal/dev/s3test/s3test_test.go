package s3test_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/s3test"
)

func client(s s3test.Server) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(s.Endpoint), Region: s.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
	})
}

// What was stored is there after the server was killed or stopped and started again, and as a file.
func TestGateway(t *testing.T) {
	g := s3test.Start(t)
	put := func() error {
		_, err := client(g.Server).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String(g.Bucket), Key: aws.String("a/b"), Body: strings.NewReader("content"), IfNoneMatch: aws.String("*"),
		})
		return err
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	g.Kill()
	if err := put(); err == nil {
		t.Error("a killed server answers")
	}
	g.Start(t)
	g.Stop(t)
	if err := put(); err == nil {
		t.Error("a server that has been stopped answers")
	}
	g.Start(t)
	var answer interface{ HTTPStatusCode() int }
	if err := put(); !errors.As(err, &answer) || answer.HTTPStatusCode() != 412 {
		t.Errorf("creating it again gave %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(g.Dir(), "a", "b")); string(got) != "content" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFake(t *testing.T) {
	s := s3test.Fake(t)
	if _, err := client(*s).HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String(s.Bucket)}); err != nil {
		t.Error(err)
	}
}
