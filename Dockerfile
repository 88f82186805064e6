# A static binary in an image with nothing else but CA certificates and time zones.
#
#   docker build -t urlmill .
#   docker run --rm urlmill url 'https://user@example.co.uk/?a=1'
#   docker run -v ./my.yaml:/etc/urlmill/config.yaml:ro -v urlmill:/data urlmill run /etc/urlmill/config.yaml

# The toolchain of go.mod: the image does not get another one.
FROM --platform=$BUILDPLATFORM golang:1.27.3 AS build
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
# A volume takes over the owner of the directory that it is mounted on.
RUN mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/urlmill /usr/local/bin/urlmill
COPY --from=build /out/THIRD_PARTY_LICENSES.txt /licenses/
COPY LICENSE /licenses/
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
# There is no shell, so the binary checks itself: that it starts at all. A pipeline that cannot go on ends its process,
# and SIGTERM makes it write and commit what it has read.
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/usr/local/bin/urlmill", "version"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/urlmill"]
CMD ["--help"]
