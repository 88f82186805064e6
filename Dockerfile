# A static binary in an image with nothing else but CA certificates and time zones.
#
#   docker build -t urlmill .
#   docker run --rm urlmill url 'https://user@example.co.uk/?a=1'
#   docker run -v ./my.yaml:/etc/urlmill/config.yaml:ro -v urlmill:/data urlmill run /etc/urlmill/config.yaml

# Bases are named by digest, of the list of all platforms: a tag can be moved.
FROM --platform=$BUILDPLATFORM golang:1.27.2@sha256:5bc7f572bbaa98885a3a1fd9c0aa76b59e3e14e8628bfc316bbfd0c701e4818c AS build
# The toolchain of go.mod: where the image has another one, Go gets it, and checks it by sum.golang.org.
ENV GOTOOLCHAIN=go1.27.3
WORKDIR /src
# The modules first: they change less often than the code.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH
ENV GOCACHE=/go/cache
# The commit is in the binary: "urlmill version" tells it.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/go/cache \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -tags=grpcnotrace -ldflags=-s -o /out/urlmill ./cmd/urlmill
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/go/cache \
    CGO_ENABLED=0 go run ./internal/dev/notices -tags=grpcnotrace -platforms=$TARGETOS/$TARGETARCH ./cmd/urlmill > /out/THIRD_PARTY_LICENSES.txt

FROM gcr.io/distroless/static-debian12:nonroot@sha256:f5b485ea962d9bd1186b2f6b3a061191539b905b82ec395de78cbfae51f20e35 AS base
COPY LICENSE /licenses/
USER 65532:65532
# BuildKit makes it the user's, and a volume takes over the owner of the directory that it is mounted on.
WORKDIR /data
# There is no shell, so the binary checks itself: that it starts at all. A pipeline that cannot go on ends its process,
# and SIGTERM makes it write and commit what it has read.
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/usr/local/bin/urlmill", "version"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/urlmill"]
CMD ["--help"]

# The image of a release has the binary of its archives, which GoReleaser puts beside this file.
FROM base AS release
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/urlmill /usr/local/bin/urlmill
COPY dist-docs/THIRD_PARTY_LICENSES.txt /licenses/

FROM base
COPY --from=build /out/urlmill /usr/local/bin/urlmill
COPY --from=build /out/THIRD_PARTY_LICENSES.txt /licenses/
