# Thin: meson builds, this file knows the words people type. `make help` lists them.
BUILD ?= build
ASAN_BUILD = build-asan
MESON_FLAGS ?=

.PHONY: all help demo test unit e2e bench lint format fuzz coverage install clean
all: configure
	@ninja -C $(BUILD) $(NINJA_FLAGS)

help:
	@echo 'make            build $(BUILD)/tachyscope and libtachyscope'
	@echo 'make demo       install what the build needs, build, profile an example program'
	@echo 'make test       install what the tests need, build twice (plain, sanitizers), run everything'
	@echo 'make unit       unit tests, fuzz replay and house checks of the plain build only'
	@echo 'make e2e        end-to-end tests only; E2E="-k name" picks some'
	@echo 'make lint       format, warnings as errors, clang-tidy, layers, sizes'
	@echo 'make format     clang-format our C files in place'
	@echo 'make fuzz       fuzz with libFuzzer, SECONDS_EACH=60 per target'
	@echo 'make bench      compare with the profilers found on this machine'
	@echo 'make coverage   line coverage of the unit tests'
	@echo 'make install    into PREFIX (meson setup -Dprefix=...), DESTDIR honoured'

# The file list is found by tools/sources: configure again when it changed.
.PHONY: configure
configure:
	@tools/configure $(BUILD) $(MESON_FLAGS)

demo:
	@tools/install_packages build
	@$(MAKE) --no-print-directory all NINJA_FLAGS=--quiet
	@tools/demo $(BUILD)/tachyscope

test:
	@tools/install_packages build test
	@tools/run_tests $(BUILD) $(ASAN_BUILD)

unit: all
	@meson test -C $(BUILD) --print-errorlogs

e2e: all
	@tools/setup_interpreters
	@PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest tests/e2e $(E2E)

lint:
	@tools/install_packages build lint
	@tools/lint

format:
	@tools/format --write

SECONDS_EACH ?= 60
fuzz:
	@tools/install_packages build fuzz
	@CC=clang tools/configure build-fuzz -Dlibfuzzer=true -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build-fuzz --quiet
	@tools/fuzz build-fuzz $(SECONDS_EACH)

bench:
	@tools/install_packages build test bench
	@tools/setup_interpreters
	@tools/configure build-bench --buildtype=release
	@ninja -C build-bench --quiet
	@bench/run build-bench/tachyscope

coverage:
	@tools/install_packages build test coverage
	@tools/configure build-coverage -Db_coverage=true
	-@meson test -C build-coverage  # instrumented: tests of allocations and times may fail
	@gcovr --root . --filter 'src/' --filter 'cli/' build-coverage

install: all
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf build build-*
