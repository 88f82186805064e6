# urlmill: make help lists what there is.

GO ?= go
BIN := bin
COMMA := ,
LINT_VERSION := v2.15.0
TOOLS := $(CURDIR)/$(BIN)/tools
AGAIN := $(CURDIR)/.ci/again # before what takes something from the network
PIP_FLAGS := --quiet --no-compile --disable-pip-version-check --retries 10 --timeout 180
PIP_INSTALL := -m pip install $(PIP_FLAGS)
MAVEN_COPY := mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## a million clickstream records from a Kafka broker in this process into Parquet; USE=dedupe, USE=warehouse
	@GO=$(GO) internal/dev/cold/build.sh $(DEMO_BINARY) $(DEMO_TAGS)
	@$(DEMO_BINARY) demo --use $(USE)

# The tag core leaves out what is much to compile, and the use clickstream does without it.
USE ?= clickstream
DEMO_BINARY := $(BIN)/urlmill-demo
DEMO_TAGS := grpcnotrace$(if $(filter clickstream,$(USE)),$(COMMA)core)

COLD ?= 15003a8 HEAD

.PHONY: cold
cold: ## what make demo takes on a machine with empty caches, beside an older revision; COLD="REVISION..."
	internal/dev/cold/cold.sh $(COLD)

.PHONY: examples
examples: build ## the three uses of examples/ on made-up data: clickstream, dedupe, warehouse
	@set -e; for use in clickstream dedupe warehouse; do echo; echo "== examples/$$use.yaml"; $(BIN)/urlmill demo --use $$use --records 200000; done
	@echo; echo "== an access log, examples/testdata/access.log"; $(BIN)/urlmill parse examples/testdata/access.log --codec combined --base-url https://shop.example.com

.PHONY: test
test: ## all tests that need nothing but Go
	$(GO) test -timeout 30m ./...
	cd benchmarks && $(GO) test ./corpus ./dedupe

.PHONY: build
build: ## bin/urlmill, static
	CGO_ENABLED=0 $(GO) build -trimpath -tags grpcnotrace -o $(BIN)/urlmill ./cmd/urlmill

.PHONY: integration
integration: ## what we write, read back by other readers (C compiler, python3; LONG=1: Spark too), and the deployment files
	cd internal/dev/itest && $(if $(LONG),URLMILL_SPARK=1) $(GO) test -timeout 30m ./...
	cd internal/dev/itest/monitoring && $(GO) test -timeout 30m ./...
	cd internal/dev/itest/kubernetes && $(GO) test -timeout 30m ./...
	cd internal/dev/itest/packages && $(GO) test -timeout 30m ./...

PACKAGES := $(CURDIR)/$(BIN)/packages

.PHONY: packages
packages: ## bin/packages/urlmill*.deb, .rpm, .apk, as a release has them, installed once by dpkg
	mkdir -p $(PACKAGES)
	cd internal/dev/itest/packages && PACKAGES=$(PACKAGES) $(GO) test -count=1 ./...

.PHONY: browser-test
browser-test: ## the status page and the URL inspector in headless Chromium (Debian: apt-get install chromium)
	cd internal/dev/browsertest && $(GO) test -timeout 30m ./...

LIBURLMILL := $(BIN)/lib/liburlmill.so

.PHONY: arrowc
arrowc: ## bin/lib/liburlmill.so with urlmill.h: the C library over the Arrow C Data Interface (C compiler)
	@command -v cc >/dev/null || { echo "there is no C compiler (cc): apt-get install gcc libc6-dev"; exit 1; }
	mkdir -p $(BIN)/lib
	cd plugins/arrowc && $(GO) build -buildmode=c-shared -trimpath -ldflags '-s -w -extldflags=-Wl,--version-script=$(CURDIR)/plugins/arrowc/exports.map' -o ../../$(LIBURLMILL) .
	rm -f $(BIN)/lib/liburlmill.h && cp plugins/arrowc/urlmill.h $(BIN)/lib/
	$(GO) run ./internal/dev/notices -C plugins/arrowc . > $(BIN)/lib/THIRD_PARTY_LICENSES.txt

PLUGINS_VENV := $(or $(URLMILL_PLUGINS_VENV),$(CURDIR)/$(BIN)/venv-plugins)
PLUGINS_PYTHON := $(PLUGINS_VENV)/bin/python3

# PySpark comes as source: what builds it is of a known version, too.
$(PLUGINS_VENV)/.installed: plugins/python/pyproject.toml plugins/python/tests/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(PLUGINS_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	PIP_CONSTRAINT=$(word 2,$^) PIP_BUILD_CONSTRAINT=$(word 2,$^) $(AGAIN) $(PLUGINS_PYTHON) $(PIP_INSTALL) -r $(word 2,$^)
	@touch $@

# ClickHouse, as a package of Python.
CHDB_VERSION := 3.7.2
$(PLUGINS_VENV)/.chdb: $(PLUGINS_VENV)/.installed
	$(AGAIN) $(PLUGINS_PYTHON) $(PIP_INSTALL) --no-deps chdb==$(CHDB_VERSION)
	@touch $@

HOSTS := $(CURDIR)/$(BIN)/hosts
TELEGRAF_VERSION := v1.37.2
JRUBY_VERSION := 9.4.13.0

.PHONY: hosts
hosts: $(HOSTS)/telegraf $(HOSTS)/jruby-complete.jar ## bin/hosts: Telegraf, and the JRuby that Logstash runs on, to test with (Java, Maven)

# Telegraf with nothing but the plugins of docs/plugins/telegraf.md and those that read and write files.
$(HOSTS)/telegraf: Makefile
	GOBIN=$(HOSTS) CGO_ENABLED=0 $(AGAIN) $(GO) install -tags custom,inputs.file,outputs.file,processors.execd,parsers.influx,serializers.influx github.com/influxdata/telegraf/cmd/telegraf@$(TELEGRAF_VERSION)
	@touch $@

$(HOSTS)/jruby-complete.jar: Makefile
	@command -v mvn >/dev/null || { echo "there is no mvn, which gets JRuby: apt-get install maven"; exit 1; }
	$(AGAIN) $(MAVEN_COPY) -Dartifact=org.jruby:jruby-complete:$(JRUBY_VERSION) -Dmdep.stripVersion=true -DoutputDirectory=$(HOSTS)
	@touch $@

.PHONY: wheel
wheel: arrowc $(PLUGINS_VENV)/.installed ## bin/dist/urlmill-*.whl, the Python package with the C library in it
	rm -rf $(BIN)/dist
	URLMILL_BUILD_LIBRARY=$(CURDIR)/$(LIBURLMILL) $(PLUGINS_PYTHON) -m build --wheel --no-isolation --outdir $(BIN)/dist plugins/python

WHEELS_VENV := $(or $(URLMILL_WHEELS_VENV),$(CURDIR)/$(BIN)/venv-wheels)
WHEELS ?= $(BIN)/wheels

# Zig as a C compiler for other platforms.
$(WHEELS_VENV)/.installed: plugins/arrowc/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(WHEELS_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	$(AGAIN) $(WHEELS_VENV)/bin/python3 $(PIP_INSTALL) -r $<
	@touch $@

.PHONY: wheels
wheels: $(WHEELS_VENV)/.installed ## bin/wheels: the Python wheels for Linux on amd64 and arm64 and for Windows, and the archives of the C library for Linux, as in a release (python3)
	rm -rf $(WHEELS)
	PYTHON=$(WHEELS_VENV)/bin/python3 plugins/arrowc/release.sh $(WHEELS) $(RELEASE)

DUCKDB := $(BIN)/duckdb

.PHONY: duckdb
duckdb: $(WHEELS_VENV)/.installed ## bin/duckdb/linux_*/urlmill.duckdb_extension: the extension of DuckDB for Linux on amd64 and arm64, as in a release (python3); PLATFORMS=linux/amd64
	rm -rf $(DUCKDB)
	$(if $(PLATFORMS),PLATFORMS='$(PLATFORMS)') PYTHON=$(WHEELS_VENV)/bin/python3 plugins/duckdb/release.sh $(DUCKDB) $(RELEASE)

# DuckDB's packages for Node.js and Java, and older ones for Python, to test the extension with. The package of Python that the other
# plugins are tested with is newer than all.
DUCKDB_NODE := 1.5.6-r.1
DUCKDB_JAVA := 2.0.0.1
DUCKDB_OLDER := 1.4.5 1.3.2 1.2.0 1.1.3

.PHONY: hosts-duckdb
hosts-duckdb: $(HOSTS)/duckdb-node/.installed $(HOSTS)/duckdb_jdbc.jar $(HOSTS)/jruby-complete.jar $(DUCKDB_OLDER:%=$(HOSTS)/duckdb-%/.installed) ## bin/hosts: DuckDB for Node.js and Java, and older versions (npm, Java, Maven, python3)

$(HOSTS)/duckdb-node/.installed: Makefile
	@command -v npm >/dev/null || { echo "there is no npm, which gets DuckDB for Node.js: apt-get install npm"; exit 1; }
	mkdir -p $(@D)
	$(AGAIN) npm install --silent --no-audit --no-fund --prefix $(@D) @duckdb/node-api@$(DUCKDB_NODE)
	@touch $@

$(HOSTS)/duckdb_jdbc.jar: Makefile
	@command -v mvn >/dev/null || { echo "there is no mvn, which gets DuckDB for Java: apt-get install maven"; exit 1; }
	$(AGAIN) $(MAVEN_COPY) -Dartifact=org.duckdb:duckdb_jdbc:$(DUCKDB_JAVA) -Dmdep.stripVersion=true -DoutputDirectory=$(HOSTS)
	@touch $@

$(HOSTS)/duckdb-%/.installed: $(PLUGINS_VENV)/.installed
	$(AGAIN) $(PLUGINS_PYTHON) $(PIP_INSTALL) --no-deps --upgrade --target $(@D) duckdb==$*
	@touch $@

DUCKDB_TEST := URLMILL_REQUIRE_HOSTS=1 URLMILL_HOSTS=$(HOSTS) URLMILL_COMMAND=$(CURDIR)/$(BIN)/urlmill \
  URLMILL_DUCKDB_EXTENSION=$(CURDIR)/$(DUCKDB)/linux_$(shell $(GO) env GOARCH)/urlmill.duckdb_extension

.PHONY: plugins-duckdb
plugins-duckdb: build hosts-duckdb duckdb ## the extension of DuckDB, built and tested in its packages for Python, Node.js and Java and in its command line
	cd plugins/duckdb/tests && $(DUCKDB_TEST) $(PLUGINS_PYTHON) -m pytest -q -p no:cacheprovider

.PHONY: duckdb-10m
duckdb-10m: build duckdb $(PLUGINS_VENV)/.installed ## what DuckDB makes of ten million URLs is what urlmill parse makes of them (2 GB of disk)
	cd plugins/duckdb/tests && $(DUCKDB_TEST) URLMILL_DUCKDB_ROWS=$(or $(ROWS),10000000) $(PLUGINS_PYTHON) -m pytest -q -s -p no:cacheprovider -k many

JVM := $(BIN)/jvm
MAVEN := $(AGAIN) mvn -q -B -f plugins/jvm/pom.xml -Durlmill.native=$(abspath $(JVM)/native) -Dproject.build.outputTimestamp=$(shell git log -1 --format=%cI 2>/dev/null || echo 2026-01-01T00:00:00Z)
SPARK_JAR := $(CURDIR)/$(JVM)/urlmill-spark_2.13.jar

.PHONY: jvm-native
jvm-native: $(WHEELS_VENV)/.installed
	@command -v mvn >/dev/null && command -v javac >/dev/null || { echo "there is no mvn or no javac: apt-get install maven openjdk-17-jdk-headless"; exit 1; }
	rm -rf $(JVM)
	$(if $(PLATFORMS),PLATFORMS='$(PLATFORMS)') PYTHON=$(WHEELS_VENV)/bin/python3 plugins/jvm/native.sh $(JVM)/native $(RELEASE)

.PHONY: spark
spark: jvm-native ## bin/jvm/urlmill-spark_*.jar: SQL functions for Spark 3.5 and 4, with sources and javadoc, and urlmill-core.jar (python3, JDK 17, Maven); PLATFORMS=linux/amd64
	$(MAVEN) -DskipTests package
	plugins/jvm/collect.sh $(JVM) $(RELEASE)

.PHONY: plugins-spark
plugins-spark: build jvm-native $(PLUGINS_VENV)/.installed ## the jars for Spark, built and tested in Spark 3.5 and 4.0 (JUnit), in PySpark, and in a stream from Kafka
	$(MAVEN) package
	plugins/jvm/collect.sh $(JVM) $(RELEASE)
	cd plugins/jvm/tests && URLMILL_REQUIRE_HOSTS=1 URLMILL_COMMAND=$(CURDIR)/$(BIN)/urlmill URLMILL_SPARK_JARS=$(CURDIR)/$(JVM) $(PLUGINS_PYTHON) -m pytest -q -p no:cacheprovider
	URLMILL_REQUIRE_SPARK=1 URLMILL_REQUIRE_KAFKA=1 URLMILL_SPARK_JARS=$(CURDIR)/$(JVM) $(GO) test -count=1 -timeout 30m -run TestSparkStream ./internal/dev/doctest

.PHONY: spark-10m
spark-10m: build spark $(PLUGINS_VENV)/.installed ## what Spark's functions make of ten million URLs is what urlmill parse makes of them (4 GB of disk)
	cd plugins/jvm/tests && URLMILL_REQUIRE_HOSTS=1 URLMILL_COMMAND=$(CURDIR)/$(BIN)/urlmill URLMILL_SPARK_JARS=$(CURDIR)/$(JVM) URLMILL_SPARK_ROWS=$(or $(ROWS),10000000) $(PLUGINS_PYTHON) -m pytest -q -s -p no:cacheprovider -k many

.PHONY: soak-spark
soak-spark: jvm-native ## Spark under -Xcheck:jni: queries whose answers are known, while jobs, tasks and executors are killed or fail or lack memory; MINUTES=60, two with QUICK=1
	$(MAVEN) -pl core,spark_2.13 -DskipTests test-compile
	$(patsubst $(AGAIN),,$(MAVEN)) -pl core,spark_2.13 -Dtest=Soak -Dsurefire.failIfNoSpecifiedTests=false -Durlmill.minutes=$(or $(MINUTES),$(if $(QUICK),2,60)) test

.PHONY: plugins
plugins: build wheel hosts plugins-duckdb plugins-spark $(PLUGINS_VENV)/.chdb $(WHEELS_VENV)/.installed ## the C library, the Python package, DuckDB's extension and Spark's jars, built and tested with pyarrow, Spark, Polars, DuckDB, pandas; ClickHouse's functions; the queries of docs/sessions.md; Telegraf (C compiler, python3, Node.js, JDK 17, Maven)
	@command -v java >/dev/null || { echo "there is no java, which Spark needs: apt-get install openjdk-17-jre-headless"; exit 1; }
	URLMILL_REQUIRE_CHDB=1 URLMILL_CHDB_PYTHON=$(PLUGINS_PYTHON) $(GO) test -timeout 30m ./cmd/urlmill/internal/udf
	URLMILL_REQUIRE_HOSTS=1 URLMILL_HOSTS=$(HOSTS) $(GO) test -timeout 30m -run 'Telegraf|Logstash|Redpanda|Vector' ./internal/dev/doctest
	cd plugins/arrowc && URLMILL_REQUIRE_CC=1 URLMILL_REQUIRE_ZIG=1 URLMILL_ZIG_PYTHON=$(WHEELS_VENV)/bin/python3 $(GO) test -timeout 30m ./...
	$(PLUGINS_PYTHON) $(PIP_INSTALL) --no-deps --no-index --force-reinstall $(BIN)/dist/*.whl
	cd plugins/python && URLMILL_REQUIRE_HOSTS=1 URLMILL_COMMAND=$(CURDIR)/$(BIN)/urlmill $(PLUGINS_PYTHON) -m pytest -q -p no:cacheprovider

.PHONY: compat
compat: $(PLUGINS_VENV)/.chdb ## package urlcore/compat beside Spark and ClickHouse themselves, a million URLs each (python3, Java 17); QUICK=1
	@command -v java >/dev/null || { echo "there is no java, which Spark needs: apt-get install openjdk-17-jre-headless"; exit 1; }
	URLMILL_REQUIRE_COMPAT=1 URLMILL_COMPAT_PYTHON=$(PLUGINS_PYTHON) URLMILL_COMPAT_URLS=$(if $(QUICK),30000,1000000) \
	  $(GO) test -count=1 -v -timeout 120m -run 'TestEngines|TestFatal' ./urlcore/compat

# Wheels of other platforms, into a folder beside the interpreter that is to import them. Emulated, it would take long to compile them.
SITE := $(PIP_INSTALL) --compile --target

ARM64 := $(or $(URLMILL_PLUGINS_ARM64),$(CURDIR)/$(BIN)/python-arm64)
ARM64_HOSTS := pyarrow$(if $(LONG),$(COMMA)polars$(COMMA)duckdb$(COMMA)pandas)

$(ARM64)/.installed$(if $(LONG),-long): plugins/python/machines/arm64.sh plugins/python/tests/requirements.txt $(WHEELS_VENV)/.installed
	$(AGAIN) plugins/python/machines/arm64.sh $(ARM64)
	$(AGAIN) $(WHEELS_VENV)/bin/python3 $(SITE) $(ARM64)/site --only-binary :all: $(foreach glibc,28 27 26 24 17,--platform manylinux_2_$(glibc)_aarch64) \
	  --python-version $$($(ARM64)/python3 -c 'import platform; print(platform.python_version())') -c plugins/python/tests/requirements.txt $(sort $(subst $(COMMA), ,$(ARM64_HOSTS)) duckdb numpy) pytest
	@touch $(ARM64)/.installed $@

# Of github.com/kluctl/go-embed-python: the newest, Python 3.14, and 3.10, the oldest that the package allows.
EMBEDDED := v0.0.0-3.14.6-20260610-1
EMBEDDED_OLDEST := v0.0.0-3.10.16-20241219-1

WINDOWS := $(or $(URLMILL_PLUGINS_WINDOWS),$(CURDIR)/$(BIN)/python-windows)

$(WINDOWS)/.installed: plugins/python/machines/windows.sh plugins/python/machines/embedded.py plugins/python/machines/bcryptprimitives.c plugins/python/tests/requirements.txt $(WHEELS_VENV)/.installed
	PYTHON=$(WHEELS_VENV)/bin/python3 $(AGAIN) plugins/python/machines/windows.sh $(EMBEDDED) $(WINDOWS)
	$(AGAIN) $(WHEELS_VENV)/bin/python3 $(SITE) $(WINDOWS)/site --only-binary :all: --platform win_amd64 \
	  --python-version $(word 2,$(subst -, ,$(EMBEDDED))) -c plugins/python/tests/requirements.txt pyarrow pytest colorama==0.4.6
	@touch $@

# What needs no other host than pyarrow.
ALONE := tests/test_parser.py tests/test_fork.py tests/test_package.py -k 'not types and not tag'

.PHONY: plugins-arm64
plugins-arm64: build $(ARM64)/.installed$(if $(LONG),-long) ## in an emulated Linux on arm64: the Python package with pyarrow, DuckDB's extension, and the jars' library in a JVM (Debian: qemu-user-static; JDK 17, Maven); LONG=1: with Polars, DuckDB, pandas, and threads and signals of the JVM, too
	rm -rf $(BIN)/wheels-arm64 $(BIN)/duckdb-arm64 $(BIN)/jvm-arm64
	PLATFORMS=linux/arm64 PYTHON=$(WHEELS_VENV)/bin/python3 plugins/arrowc/release.sh $(BIN)/wheels-arm64
	PLATFORMS=linux/arm64 PYTHON=$(WHEELS_VENV)/bin/python3 plugins/duckdb/release.sh $(BIN)/duckdb-arm64
	PLATFORMS=linux/arm64 PYTHON=$(WHEELS_VENV)/bin/python3 plugins/jvm/native.sh $(BIN)/jvm-arm64
	$(WHEELS_VENV)/bin/python3 $(SITE) $(ARM64)/site --upgrade --no-deps --no-index --only-binary :all: --platform manylinux_2_17_aarch64 $(BIN)/wheels-arm64/*.whl
	cd plugins/python && URLMILL_REQUIRE_HOSTS=$(ARM64_HOSTS),command,wheel URLMILL_COMMAND=$(CURDIR)/$(BIN)/urlmill timeout 30m $(ARM64)/python3 -m pytest -q -rs -p no:cacheprovider $(if $(LONG),tests/test_hosts.py) $(ALONE)
	cd plugins/duckdb/tests && URLMILL_REQUIRE_HOSTS=1 URLMILL_DUCKDB_EXTENSION=$(CURDIR)/$(BIN)/duckdb-arm64/linux_arm64/urlmill.duckdb_extension timeout 30m $(ARM64)/python3 -m pytest -q -p no:cacheprovider -k test_python test_hosts.py
	timeout 30m $(patsubst $(AGAIN),,$(MAVEN)) -Durlmill.native=$(CURDIR)/$(BIN)/jvm-arm64 -Djvm=$(ARM64)/bin/java -pl core $(if $(LONG),,-Dtest='CasesTest$(COMMA)LibraryTest') test

OLDEST := $(or $(URLMILL_PLUGINS_OLDEST),$(CURDIR)/$(BIN)/python-oldest)
OLDEST_HOSTS := pyarrow,polars,duckdb,pandas$(if $(LONG),$(COMMA)pyspark)

$(OLDEST)/.installed$(if $(LONG),-long): plugins/python/machines/embedded.py plugins/python/tests/oldest.txt $(WHEELS_VENV)/.installed
	$(AGAIN) python3 plugins/python/machines/embedded.py $(EMBEDDED_OLDEST) linux-$(shell $(GO) env GOARCH) $(OLDEST)
	PIP_CONSTRAINT=$(CURDIR)/plugins/python/tests/oldest.txt $(AGAIN) $(WHEELS_VENV)/bin/python3 -m pip --python $(OLDEST)/bin/python3 install $(PIP_FLAGS) $(subst $(COMMA), ,$(OLDEST_HOSTS)) pytest
	@touch $(OLDEST)/.installed $@

.PHONY: plugins-oldest
plugins-oldest: build arrowc $(OLDEST)/.installed$(if $(LONG),-long) ## the Python package in the oldest Python with the oldest hosts that it allows; LONG=1: with Spark, too (C compiler, Java 17)
	rm -rf $(BIN)/dist-oldest
	URLMILL_BUILD_LIBRARY=$(CURDIR)/$(LIBURLMILL) $(WHEELS_VENV)/bin/python3 -m build --wheel --no-isolation --outdir $(BIN)/dist-oldest plugins/python
	$(WHEELS_VENV)/bin/python3 -m pip --python $(OLDEST)/bin/python3 install $(PIP_FLAGS) --no-deps --no-index --force-reinstall $(BIN)/dist-oldest/*.whl
	cd plugins/python && URLMILL_REQUIRE_HOSTS=$(OLDEST_HOSTS),command,wheel URLMILL_COMMAND=$(CURDIR)/$(BIN)/urlmill $(OLDEST)/bin/python3 -m pytest -q -rs -p no:cacheprovider -k 'not types and not tag $(if $(LONG),,and not spark)'

.PHONY: plugins-windows
plugins-windows: $(WINDOWS)/.installed ## the Python package with pyarrow in a Python for Windows on amd64, by Wine (Debian: wine64)
	rm -rf $(BIN)/wheels-windows
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -trimpath -tags grpcnotrace -o $(BIN)/windows/urlmill.exe ./cmd/urlmill
	PLATFORMS=windows/amd64 PYTHON=$(WHEELS_VENV)/bin/python3 plugins/arrowc/release.sh $(BIN)/wheels-windows
	$(WHEELS_VENV)/bin/python3 $(SITE) $(WINDOWS)/site --upgrade --no-deps --no-index --only-binary :all: --platform win_amd64 $(BIN)/wheels-windows/*.whl
	cd plugins/python && URLMILL_REQUIRE_HOSTS=pyarrow,command,wheel URLMILL_COMMAND=Z:$(CURDIR)/$(BIN)/windows/urlmill.exe timeout 30m $(WINDOWS)/python3 -m pytest -q -rs -p no:cacheprovider $(ALONE)

.PHONY: bench-spark
bench-spark: build wheel spark ## ten million rows backfilled by Spark, compared with urlmill parse and measured beside the SQL functions, parse_url and tldextract; QUICK=1
	$(PLUGINS_PYTHON) $(PIP_INSTALL) --no-deps --no-index --force-reinstall $(BIN)/dist/*.whl
	$(PLUGINS_PYTHON) plugins/python/bench/spark.py --urlmill $(BIN)/urlmill --jar $(SPARK_JAR) --conf spark.python.unix.domain.socket.enabled=true $(if $(QUICK),--quick,--out benchmarks/results/spark.json)

.PHONY: bench-duckdb
bench-duckdb: duckdb $(PLUGINS_VENV)/.chdb ## the functions in DuckDB beside its regular expressions and ClickHouse's functions, and what the border costs (python3); QUICK=1
	$(PLUGINS_PYTHON) plugins/duckdb/bench/duckdb.py --extension $(DUCKDB)/linux_$(shell $(GO) env GOARCH)/urlmill.duckdb_extension $(if $(QUICK),--quick,--out benchmarks/results/duckdb.json)

.PHONY: bench-clickhouse
bench-clickhouse: build $(PLUGINS_VENV)/.chdb ## ClickHouse's executable functions in each format beside its native ones, CPU of both sides (python3); QUICK=1
	$(PLUGINS_PYTHON) benchmarks/udf/clickhouse.py --urlmill $(BIN)/urlmill $(if $(QUICK),--quick,--out benchmarks/results/clickhouse.json)

.PHONY: bench-crossing
bench-crossing: ## what it costs to carry a batch over the C border (C compiler); QUICK=1, ROWS=1000
	cd plugins/arrowc && $(GO) build -tags crossing -buildmode=c-shared -o ../../$(BIN)/crossing/liburlmill.so .
	cc -O2 -o $(BIN)/crossing/crossing plugins/arrowc/test/crossing.c -L$(BIN)/crossing -lurlmill -Wl,-rpath,$(CURDIR)/$(BIN)/crossing
	cd benchmarks && $(GO) run ./crossing -program ../$(BIN)/crossing/crossing $(if $(ROWS),-rows $(ROWS)) $(if $(QUICK),-rounds 3 -repetitions 1,$(if $(ROWS),,-out results/crossing.json))

.PHONY: bench-calls
bench-calls: wheel ## what a call costs by the rows that it is given: Go, Python, Polars, pandas, DuckDB; QUICK=1
	$(PLUGINS_PYTHON) $(PIP_INSTALL) --no-deps --no-index --force-reinstall $(BIN)/dist/*.whl
	$(GO) test -c -o $(BIN)/bench/processor.test ./pipeline/processor
	$(PLUGINS_PYTHON) plugins/python/bench/calls.py --go $(BIN)/bench/processor.test $(if $(QUICK),--rows 1$(COMMA)1000$(COMMA)65536,--out benchmarks/results/calls.json)

.PHONY: race
race: ## all tests under the race detector
	$(GO) test -race -timeout 60m ./...

.PHONY: docs
docs: ## docs/reference.md and the tables of error codes and of codecs anew
	$(GO) run ./cmd/urlmill config reference > docs/reference.md
	UPDATE_DOCS=1 $(GO) test -run 'TestCodes|TestCodecSpeed|TestSteps' ./internal/dev/doctest

.PHONY: kubernetes-docs
kubernetes-docs: ## docs/deploy/kubernetes.yaml anew, from the chart beside it, and the figures of docs/plugins/kubernetes.md
	cd internal/dev/itest/kubernetes && UPDATE_KUBERNETES=1 $(GO) test -count=1 -run 'TestManifests|TestBurst' ./...

# dbt and Airflow ask for other versions of the same packages.
SCHEDULERS := dbt airflow

$(BIN)/venv-%/.installed: internal/dev/doctest/requirements-%.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(@D) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	$(AGAIN) $(@D)/bin/python3 $(PIP_INSTALL) -r $<
	@touch $@

.PHONY: schedulers
schedulers: $(SCHEDULERS:%=$(BIN)/venv-%/.installed) ## the examples of dbt and Airflow in the docs, run by them (python3; 650 MB)
	URLMILL_REQUIRE_SCHEDULERS=1 $(GO) test -count=1 -timeout 30m -run 'TestDbt|TestAirflow' ./internal/dev/doctest

.PHONY: docs-test
docs-test: ## every command of README and docs, run
	$(GO) test -count=1 -v ./internal/dev/doctest

.PHONY: vuln
vuln: ## known vulnerabilities that can be reached (needs vuln.go.dev)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## golangci-lint with the import rules, go vet, copied URLs, tidy modules
	$(TOOLS)/golangci-lint run --allow-parallel-runners ./...
	cd internal/dev/itest && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../../../.golangci.yml ./...
	cd plugins/arrowc && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../../.golangci.yml ./...
	$(GO) build -o $(BIN)/tools/urlcopy ./urlcore/urlcopy && $(TOOLS)/urlcopy ./... && $(GO) vet -vettool=$(TOOLS)/urlcopy ./urlcore
	$(GO) mod tidy -diff
	cd internal/dev/itest && $(GO) mod tidy -diff
	cd internal/dev/itest/monitoring && $(GO) mod tidy -diff && $(GO) vet ./...
	cd internal/dev/itest/kubernetes && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../../../../.golangci.yml ./... && $(GO) mod tidy -diff
	cd internal/dev/itest/packages && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../../../../.golangci.yml ./... && $(GO) mod tidy -diff
	cd internal/dev/pubsubtest/server && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../../../../.golangci.yml ./... && $(GO) mod tidy -diff
	cd internal/dev/browsertest && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../../../.golangci.yml ./... && $(GO) mod tidy -diff
	cd plugins/arrowc && $(GO) mod tidy -diff && $(GO) vet -tags crossing ./...
	cd benchmarks && $(TOOLS)/golangci-lint run --allow-parallel-runners --config ../.golangci.yml ./... && $(GO) mod tidy -diff
	cd internal/dev/conformance/peers && $(GO) mod tidy -diff && $(GO) vet ./...
	cd urlcore/internal/scan/_asm && $(GO) mod tidy -diff && $(GO) vet ./...

$(TOOLS)/golangci-lint: Makefile
	GOBIN=$(TOOLS) $(AGAIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@touch $@

.PHONY: size
size: ## lines of Go of each room, without tests, what is generated, and the tools of tests
	@git ls-files '*.go' ':!*_test.go' ':!internal/dev' ':!benchmarks' ':!*test/*' ':!*/testdata/*' | xargs grep -LE '^// Code generated .* DO NOT EDIT' | xargs wc -l | \
		awk '$$2 != "total" { split($$2, p, "/"); room = p[1]; if (p[1] ~ /^(cmd|internal|plugins)$$/ && p[3]) room = p[1] "/" p[2]; n[room] += $$1; all += $$1 } \
		END { for (room in n) printf "%7d  %s\n", n[room], room | "sort -k2"; close("sort -k2"); printf "%7d  in all\n", all }'

# A Go that builds urlmill as well, with the tables of Unicode 15: the toolchain of go.mod has those of 17.
OLDER_GO := go1.26.8

.PHONY: conformance
conformance: ## cases passed of each conformance file, also when an older Go builds, beside other parsers, and the rows of the feature matrix
	@$(GO) run ./internal/dev/conformance/matrix -older $(OLDER_GO)

.PHONY: conformance-docs
conformance-docs: ## the same, written into docs/conformance.md
	@$(GO) run ./internal/dev/conformance/matrix -older $(OLDER_GO) -write

# For what is built to see that it can be: modules of others are not optimized, and nothing has what debuggers read, which takes the compiler half the time.
FOREIGN := -gcflags='all=-N -l -dwarf=false' -gcflags=std=-dwarf=false -gcflags=github.com/urlmill/urlmill/...=-dwarf=false

.PHONY: test-arch
test-arch: ## urlcore and pipeline tested for 32 bit, a fifth of what is random, and all vetted; urlmill built for it and for arm64
	GOARCH=386 $(GO) test -short -timeout 30m ./urlcore/... ./pipeline/...
	GOARCH=386 $(GO) vet ./...
	GOARCH=386 $(GO) build -o /dev/null ./cmd/urlmill
	GOARCH=arm64 $(GO) vet ./urlcore/internal/scan
	GOARCH=arm64 $(GO) build $(FOREIGN) -o /dev/null ./cmd/urlmill

.PHONY: test-older
test-older: ## an older Go builds urlmill, and what it builds conforms but for what is known
	GOTOOLCHAIN=$(OLDER_GO) $(GO) build -o /dev/null ./cmd/urlmill
	GOTOOLCHAIN=$(OLDER_GO) $(GO) test -timeout 30m ./urlcore/... ./internal/dev/conformance/...

CHAOS_VENV := $(or $(URLMILL_CHAOS_VENV),$(CURDIR)/$(BIN)/venv-chaos)

# librdkafka as a producer, and pyiceberg.
$(CHAOS_VENV)/.installed: internal/dev/chaos/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(CHAOS_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	$(AGAIN) $(CHAOS_VENV)/bin/python3 $(PIP_INSTALL) -r $<
	@touch $@

.PHONY: chaos
chaos: $(CHAOS_VENV)/.installed ## everything dies, in turn and at random, and every value is compared (Java, Maven, C compiler, python3, PostgreSQL); half an hour, or some minutes with QUICK=1; URLMILL_SEED=N, ONLY=NAME[,NAME], PARALLEL=N scenarios at a time
	@URLMILL_CHAOS_PYTHON=$(CHAOS_VENV)/bin/python3 $(GO) run ./internal/dev/chaos $(if $(PARALLEL),-parallel $(PARALLEL)) $(if $(ONLY),-only $(ONLY)) $(if $(QUICK),-quick,$(if $(ONLY),,-report docs/reliability.md))

.PHONY: hostile
hostile: ## input made to crash, to fill memory, to hang, to leak, each in a process of its own; URLMILL_SEED=N, ONLY=NAME[,NAME]
	@$(GO) run ./internal/dev/hostile $(if $(ONLY),-only $(ONLY))

.PHONY: fuzz
fuzz: ## every fuzz target of all modules for SECONDS (default 10) with coverage and as long without, and how many inputs each was given; ONLY=REGEXP
	@$(GO) run ./internal/dev/fuzz -seconds $(or $(SECONDS),10) -blind $(or $(BLIND),$(SECONDS),10) -only '$(ONLY)'

.PHONY: cover
cover: ## statement coverage of urlcore
	$(GO) test -coverprofile=coverage.out -coverpkg=./urlcore/... ./urlcore/...
	$(GO) tool cover -func=coverage.out | tail -1

# Where the benchmarks write: quick ones do not replace the figures that the docs have.
RESULTS := $(if $(QUICK),../$(BIN)/results,results)

PEERS := $(CURDIR)/benchmarks/native/rust/target/release/urlmill-peers

.PHONY: bench-core
bench-core: ## the batch engine beside net/url, nlnwa, Ada and rust-url; QUICK=1, CORPUS=FILE[,FILE]
	@if command -v cargo >/dev/null; then cargo build --quiet --release --locked --manifest-path benchmarks/native/rust/Cargo.toml; fi
	cd benchmarks && QUICK=$(QUICK) CORPUS=$(CORPUS) PEERS=$$(test -x $(PEERS) && echo $(PEERS)) $(GO) run ./core -out $(RESULTS)/core.json

.PHONY: bench-consume
bench-consume: ## CPU and allocations of getting records out of Kafka, beside kafka-go and franz-go; QUICK=1, REAL_KAFKA=1
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-consume ./consume && QUICK=$(QUICK) REAL_KAFKA=$(REAL_KAFKA) ../$(BIN)/bench-consume -out $(RESULTS)/consume.json

.PHONY: bench-codecs
bench-codecs: ## how fast every codec takes its records apart; QUICK=1, ONLY=NAME[,NAME]
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-codecs ./codecs && QUICK=$(QUICK) ONLY=$(ONLY) ../$(BIN)/bench-codecs -out $(RESULTS)/codecs.json

.PHONY: bench-enrich
bench-enrich: ## what columns of enrich and redaction cost, beside uap-go, uap-rust and maxminddb; QUICK=1, ONLY=TEXT
	@if command -v cargo >/dev/null; then cargo build --quiet --release --locked --manifest-path benchmarks/native/rust/Cargo.toml; fi
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-enrich ./enrich && QUICK=$(QUICK) ONLY=$(ONLY) PEERS=$$(test -x $(PEERS) && echo $(PEERS)) ../$(BIN)/bench-enrich -out $(RESULTS)/enrich.json

.PHONY: bench-delivery
bench-delivery: ## what exactly-once delivery costs against at-least-once; QUICK=1
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-delivery ./delivery && QUICK=$(QUICK) ../$(BIN)/bench-delivery -out $(RESULTS)/delivery.json

.PHONY: bench-load
bench-load: ## parsed rows into PostgreSQL, ClickHouse and DuckDB beside loads by hand (C compiler, Debian's servers); QUICK=1, ONLY=postgres
	cd benchmarks && CGO_ENABLED=1 $(GO) build -tags duckdb -o ../$(BIN)/bench-load ./load && QUICK=$(QUICK) ONLY=$(ONLY) ../$(BIN)/bench-load -out $(RESULTS)/load.json

.PHONY: bench-lake
bench-lake: build ## clicks from Kafka until a query finds them, in files, Iceberg, PostgreSQL, ClickHouse, and what a TB costs (Java, Maven, Debian's servers); QUICK=1, ONLY=iceberg
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-lake ./lake && QUICK=$(QUICK) ONLY="$(ONLY)" ../$(BIN)/bench-lake -binary ../$(BIN)/urlmill -out $(RESULTS)/lake.json

.PHONY: bench-sweep
bench-sweep: ## batch sizes and cores, plotted into docs/performance
	cd benchmarks && $(GO) run ./core -sweep ../docs/performance

BENCH_PARQUET_VENV := $(or $(URLMILL_BENCH_PARQUET_VENV),$(CURDIR)/$(BIN)/venv-bench-parquet)
ARROW_RS := $(CURDIR)/benchmarks/parquet/rust/target/release/bench-arrow-rs

$(BENCH_PARQUET_VENV)/.installed: benchmarks/parquet/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(BENCH_PARQUET_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	$(AGAIN) $(BENCH_PARQUET_VENV)/bin/python3 $(PIP_INSTALL) --only-binary :all: -r $<
	@touch $@

.PHONY: bench-parquet
bench-parquet: $(BENCH_PARQUET_VENV)/.installed ## the Parquet encoder beside arrow v15 and v18, parquet-go, arrow-rs (cargo), Arrow C++, polars, DuckDB and ClickHouse (python3); QUICK=1
	@if command -v cargo >/dev/null; then cargo build --quiet --release --locked --manifest-path benchmarks/parquet/rust/Cargo.toml; fi
	cd benchmarks && $(GO) build -o parquet/bench-parquet ./parquet && $(GO) build -o parquet/bench-v18 ./parquet/v18 && QUICK=$(QUICK) parquet/bench-parquet -v18 parquet/bench-v18 -rust "$$(test -x $(ARROW_RS) && echo $(ARROW_RS))" -python $(BENCH_PARQUET_VENV)/bin/python3 -out $(RESULTS)/parquet.json

.PHONY: bench-e2e
bench-e2e: ## files and Kafka to Parquet beside a naive program, DuckDB, ClickHouse, Spark; QUICK=1, REAL_KAFKA=1, URLMILL_PYTHON=
	cd benchmarks && $(GO) build -o e2e/bench-e2e ./e2e && QUICK=$(QUICK) REAL_KAFKA=$(REAL_KAFKA) e2e/bench-e2e -out $(RESULTS)/e2e.json $(if $(QUICK),,-plots ../docs/performance)

BENCH_STORE_VENV := $(or $(URLMILL_BENCH_STORE_VENV),$(CURDIR)/$(BIN)/venv-bench-store)

$(BENCH_STORE_VENV)/.installed: benchmarks/store/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(BENCH_STORE_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	$(AGAIN) $(BENCH_STORE_VENV)/bin/python3 $(PIP_INSTALL) --only-binary :all: -r $<
	@touch $@

.PHONY: bench-store
bench-store: build $(BENCH_STORE_VENV)/.installed ## logs in a bucket to Parquet in it, beside ClickHouse and DuckDB, and stores beside the vendors' SDKs (python3, npm); QUICK=1, ONLY=
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-store ./store && QUICK=$(QUICK) BENCH_STORE_PYTHON=$(BENCH_STORE_VENV)/bin/python3 ../$(BIN)/bench-store -binary ../$(BIN)/urlmill -only "$(ONLY)" -out $(RESULTS)/store.json

BENCH_CRAWL_VENV := $(or $(URLMILL_BENCH_CRAWL_VENV),$(CURDIR)/$(BIN)/venv-bench-crawl)

$(BENCH_CRAWL_VENV)/.installed: benchmarks/crawl/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(BENCH_CRAWL_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	$(AGAIN) $(BENCH_CRAWL_VENV)/bin/python3 $(PIP_INSTALL) -r $<
	@touch $@

.PHONY: crawl
crawl: build $(if $(QUICK),,$(BENCH_CRAWL_VENV)/.installed) ## a crawl of 1 GB with planted duplicates into an index, killed at random and compared; its stages, and warcio, fastwarc, cdxj-indexer, surt, urlcanon (python3); QUICK=1, DIR=
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-crawl ./crawl && QUICK=$(QUICK) BENCH_CRAWL_PYTHON=$(if $(QUICK),,$(BENCH_CRAWL_VENV)/bin/python3) ../$(BIN)/bench-crawl -binary ../$(BIN)/urlmill -dir "$(DIR)" $(if $(QUICK),,-out results/crawl.json)

.PHONY: generate-asm
generate-asm: ## the assembly of urlcore/internal/scan
	cd urlcore/internal/scan && $(GO) generate .

.PHONY: dedupe-100m
dedupe-100m: build ## the duplicates among 100 million URLs of files, in 512 MiB, counted (20 GB of disk); QUICK=1, DIR=
	cd benchmarks && $(GO) build -o ../$(BIN)/dedupe-100m ./dedupe && QUICK=$(QUICK) ../$(BIN)/dedupe-100m -binary ../$(BIN)/urlmill -dir "$(DIR)" -out $(RESULTS)/dedupe.json $(if $(QUICK),,-plots ../docs/performance)

.PHONY: dedupe-1b
dedupe-1b: build ## the same with a billion URLs through pipes, in 6 GiB (35 GB of disk, some hours); ROWS=, DIR=; an interrupt ends it early
	cd benchmarks && $(GO) build -o ../$(BIN)/dedupe-100m ./dedupe && exec ../$(BIN)/dedupe-100m -binary ../$(BIN)/urlmill -dir "$(DIR)" -stream -rows $(or $(ROWS),1000000000) -step 25000000 -memory 3GiB -limit 6GiB $(if $(ROWS),,-out $(RESULTS)/dedupe-billion.json)

BENCH_SEEN_VENV := $(or $(URLMILL_BENCH_SEEN_VENV),$(CURDIR)/$(BIN)/venv-bench-seen)

# PySpark comes as source: what builds it is of a known version, too.
$(BENCH_SEEN_VENV)/.installed: benchmarks/seen/requirements.txt plugins/python/tests/requirements.txt
	@command -v python3 >/dev/null || { echo "there is no python3: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(BENCH_SEEN_VENV) || { echo "python3 has no venv: apt-get install python3-venv"; exit 1; }
	PIP_BUILD_CONSTRAINT=$(word 2,$^) $(AGAIN) $(BENCH_SEEN_VENV)/bin/python3 $(PIP_INSTALL) -r $<
	@touch $@

.PHONY: bench-seen
bench-seen: build $(if $(QUICK),,$(BENCH_SEEN_VENV)/.installed) ## the duplicates in a list of URLs found by urlmill, filters and a set in Redis, Spark's dropDuplicates: speed, memory, errors (Debian's redis-server, python3, Java); QUICK=1, DIR=
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-seen ./seen && QUICK=$(QUICK) BENCH_SEEN_PYTHON=$(if $(QUICK),,$(BENCH_SEEN_VENV)/bin/python3) ../$(BIN)/bench-seen -binary ../$(BIN)/urlmill -dir "$(DIR)" -out $(RESULTS)/seen.json

.PHONY: bench-keys
bench-keys: ## what the sets of keys of dedupe take: memory and disk of a key, look-ups a second, restoring the state of a partition (versitygw; 5 GB of disk); QUICK=1, DIR=
	cd benchmarks && $(GO) build -o ../$(BIN)/bench-keys ./keys && QUICK=$(QUICK) ../$(BIN)/bench-keys -dir "$(DIR)" -out $(RESULTS)/keys.json

.PHONY: bench
bench: ## Go benchmarks of every package
	$(GO) test -run '^$$' -bench . -benchmem ./...
