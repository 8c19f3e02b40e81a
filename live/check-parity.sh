#!/bin/sh
# The policies in the kernel against the native build: tests, then eight million records per policy.
# Needs clang, libelf and zlib to build, root (or CAP_BPF and CAP_NET_ADMIN) to run. Where something is missing it says
# NOT RUN and why; that is a failure only where CI is set. A seed may be given.
set -eu
cd "$(dirname "$0")/.."

not_run() {
	echo "NOT RUN  bpf-parity: $*"
	[ -z "${CI:-}" ] || exit 1
	exit 0
}

[ "$(uname -s)" = Linux ] || not_run "eBPF is Linux's"
for tool in clang pkg-config; do
	command -v "$tool" >/dev/null || not_run "$tool is not installed; 'make deps' installs it"
done
for library in libelf zlib; do
	pkg-config --exists "$library" || not_run "the headers of $library are not installed; 'make deps' installs them"
done
echo '#include <bpf/bpf_helpers.h>' | clang -E -include linux/types.h - >/dev/null 2>&1 ||
	not_run "bpf/bpf_helpers.h is not installed; 'make deps' installs it"

cargo=${CARGO:-cargo}
status=0
$cargo run --quiet --release --locked -p mousehole-live --bin bpf-parity -- "$@" || status=$?
[ $status -ne 2 ] || not_run "see above"
[ $status -eq 0 ] || exit $status
$cargo test --quiet --release --locked -p mousehole-live
