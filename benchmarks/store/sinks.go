package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"google.golang.org/api/option"

	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	"github.com/urlmill/urlmill/sinks/store/gcs"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

const (
	fileSize = 64 << 20
	partSize = 8 << 20 // of all, as by default
	parallel = 4       // parts on their way, as by default
)

// sink is what a store took. All figures are medians; bytes are 10^6 and 10^9.
type sink struct {
	Store    string  `json:"store"`
	By       string  `json:"by"`
	MBPerS   float64 `json:"mb_per_s"`
	MBPerCPU float64 `json:"mb_per_cpu_s"`
	Requests float64 `json:"requests_per_gb"`
}

type writer func(ctx context.Context, content []byte, n int) (remove func() error, err error)

// way is a way of writing files into a store.
type way struct {
	store, by string
	// write writes n files of the same content, with names that nobody has used, and returns what removes them.
	write    writer
	requests *counter

	rates, cpus, counts []float64
}

// counter counts requests.
type counter struct {
	under http.RoundTripper
	n     atomic.Int64
}

func newCounter() *counter {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 2*parallel + 8
	return &counter{under: t}
}

// RoundTrip implements [http.RoundTripper].
func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.under.RoundTrip(r)
}

func (c *counter) client() *http.Client { return &http.Client{Transport: c} }

// sinks lets the ways take turns, for repetitions rounds after one to warm up. What they have written is removed between.
func (b *bench) sinks(ctx context.Context, tb *standin.TB) (list []sink, err error) {
	google, azurite := gcstest.Start(tb), azuretest.Start(tb)
	var ways []*way
	for _, make := range []func() ([]*way, error){b.s3Ways, func() ([]*way, error) { return gcsWays(ctx, google) }, func() ([]*way, error) { return azureWays(azurite) }} {
		w, err := make()
		if err != nil {
			return nil, err
		}
		ways = append(ways, w...)
	}
	content := make([]byte, fileSize)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content) // pages of Parquet are compressed
	n := max(1, b.sinkMB*1e6/fileSize)
	mb := float64(n) * fileSize / 1e6
	for round := range b.repetitions + 1 {
		for _, w := range ways {
			requests, cpu, began := w.requests.n.Load(), cputime.Used(), time.Now()
			remove, err := w.write(ctx, content, n)
			rate, perCPU, count := mb/time.Since(began).Seconds(), mb/(cputime.Used()-cpu).Seconds(), float64(w.requests.n.Load()-requests)/mb*1e3
			if err == nil {
				err = remove()
			}
			if err != nil {
				return nil, fmt.Errorf("%s by %s: %w", w.store, w.by, err)
			}
			if round == 0 {
				continue
			}
			w.rates, w.cpus, w.counts = append(w.rates, rate), append(w.cpus, perCPU), append(w.counts, count)
			fmt.Printf("%d %-21s %-8s %5.0f MB/s\n", round, w.store, w.by, rate)
		}
	}
	for _, w := range ways {
		list = append(list, sink{w.store, w.by, round(median(w.rates), 0), round(median(w.cpus), 0), round(median(w.counts), 0)})
	}
	return list, nil
}

// ours writes by a store of urlmill: files that are invisible until all are finished, and then a commit record.
func ours(open store.Opener, place string) writer {
	runs := 0
	return func(ctx context.Context, content []byte, n int) (remove func() error, err error) {
		runs++
		s, err := open(fmt.Sprintf("%s/ours-%d", place, runs), slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if err := s.Prepare(ctx); err != nil {
			return nil, err
		}
		var pending []store.Pending
		for i := range n {
			f, err := s.Begin(ctx, fmt.Sprintf("part-%d-%s.parquet", i, s.Run()))
			if err != nil {
				return nil, err
			}
			for at := 0; at < len(content); at += 1 << 20 { // about a page of each column
				if _, err := f.Write(content[at:min(at+1<<20, len(content))]); err != nil {
					return nil, errors.Join(err, f.Discard())
				}
			}
			p, err := f.Finish()
			if err != nil {
				return nil, err
			}
			pending = append(pending, p)
		}
		if err := s.Settle(ctx, pending); err != nil {
			return nil, err
		}
		if err := s.Create(ctx, "_commits/1.json", content[:500]); err != nil {
			return nil, err
		}
		remove = func() (err error) {
			for _, f := range pending {
				err = errors.Join(err, s.Delete(ctx, f.Name))
			}
			return err
		}
		return remove, s.Publish(ctx, pending)
	}
}

// sdk writes by an SDK, by functions that upload and remove a file.
func sdk(upload func(ctx context.Context, name string, content []byte) error, remove func(ctx context.Context, name string) error) writer {
	runs := 0
	return func(ctx context.Context, content []byte, n int) (func() error, error) {
		runs++
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("sdk-%d/part-%d.parquet", runs, i))
			if err := upload(ctx, names[i], content); err != nil {
				return nil, err
			}
		}
		return func() (err error) {
			for _, name := range names {
				err = errors.Join(err, remove(ctx, name))
			}
			return err
		}, nil
	}
}

func (b *bench) s3Ways() ([]*way, error) {
	server := &b.gateway.Server
	first, second := newCounter(), newCounter()
	options := s3.Default()
	options.Endpoint, options.Region, options.Transport = server.Endpoint, server.Region, first
	options.Credentials = credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, "")
	client := b.client(func(o *awss3.Options) { o.HTTPClient = second.client() })
	manager := transfermanager.New(client, func(o *transfermanager.Options) { o.PartSizeBytes, o.Concurrency = partSize, parallel })
	write := sdk(func(ctx context.Context, name string, content []byte) error {
		_, err := manager.UploadObject(ctx, &transfermanager.UploadObjectInput{Bucket: &server.Bucket, Key: &name, Body: bytes.NewReader(content)})
		return err
	}, func(ctx context.Context, name string) error {
		_, err := client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &server.Bucket, Key: &name})
		return err
	})
	return []*way{
		{store: "S3 (versitygw)", by: "urlmill", requests: first, write: ours(s3.Opener(options), "s3://"+server.Bucket)},
		{store: "S3 (versitygw)", by: "SDK", requests: second, write: write},
	}, nil
}

func gcsWays(ctx context.Context, server *gcstest.Server) ([]*way, error) {
	first, second := newCounter(), newCounter()
	options := gcs.Default()
	options.Endpoint, options.Transport = server.Endpoint, first
	client, err := storage.NewClient(ctx, option.WithEndpoint(server.Endpoint+"/storage/v1/"), option.WithHTTPClient(second.client()), storage.WithJSONReads())
	if err != nil {
		return nil, err
	}
	write := sdk(func(ctx context.Context, name string, content []byte) error {
		w := client.Bucket(server.Bucket).Object(name).If(storage.Conditions{DoesNotExist: true}).NewWriter(ctx)
		_, err := io.Copy(w, bytes.NewReader(content))
		return errors.Join(err, w.Close())
	}, func(ctx context.Context, name string) error {
		return client.Bucket(server.Bucket).Object(name).Delete(ctx)
	})
	return []*way{
		{store: "GCS (fake-gcs-server)", by: "urlmill", requests: first, write: ours(gcs.Opener(options), "gs://"+server.Bucket)},
		{store: "GCS (fake-gcs-server)", by: "SDK", requests: second, write: write},
	}, nil
}

// The emulator's account and its key, which Microsoft documents.
const (
	emulator    = "devstoreaccount1"
	emulatorKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	container   = "urlmill-test"
)

// version asks for a version of the API that Azurite knows.
type version struct{}

// Do implements [policy.Policy].
func (version) Do(r *policy.Request) (*http.Response, error) {
	const name = "x-ms-version" // as the SDK writes it: another way of writing it would be a second header
	r.Raw().Header[name] = []string{"2021-12-02"}
	return r.Next()
}

func azureWays(server *azuretest.Server) ([]*way, error) {
	first, second := newCounter(), newCounter()
	options := azure.Default()
	options.Endpoint, options.Transport = server.Endpoint, first
	key, err := azblob.NewSharedKeyCredential(emulator, emulatorKey)
	if err != nil {
		return nil, err
	}
	client, err := azblob.NewClientWithSharedKeyCredential(server.Endpoint+"/"+emulator, key, &azblob.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: second.client(), PerCallPolicies: []policy.Policy{version{}},
	}})
	if err != nil {
		return nil, err
	}
	any := azcore.ETagAny
	write := sdk(func(ctx context.Context, name string, content []byte) error {
		_, err := client.UploadBuffer(ctx, container, name, content, &azblob.UploadBufferOptions{
			BlockSize: partSize, Concurrency: parallel,
			AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: &any}},
		})
		return err
	}, func(ctx context.Context, name string) error {
		_, err := client.DeleteBlob(ctx, container, name, nil)
		return err
	})
	return []*way{
		{store: "Azure Blob (Azurite)", by: "urlmill", requests: first, write: ours(azure.Opener(options), server.Place)},
		{store: "Azure Blob (Azurite)", by: "SDK", requests: second, write: write},
	}, nil
}
