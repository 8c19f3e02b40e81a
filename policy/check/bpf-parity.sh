#!/bin/sh
# Checks every shipped policy in the kernel with eight million records. Needs clang, and root (or CAP_BPF and
# CAP_NET_ADMIN). Where something is missing it says NOT RUN and why; that is a failure only where CI is set. A seed and
# a number of records may be given.
set -eu
cd "$(dirname "$0")/../.."

status=0
${CARGO:-cargo} run --quiet --release --locked -p mousehole-check --bin bpf-parity -- "$@" || status=$?
[ $status -eq 2 ] && [ -z "${CI:-}" ] && exit 0
exit $status
