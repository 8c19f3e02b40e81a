#!/bin/sh
# Compiles every policy header on its own for the eBPF target and natively, and refuses what would not load:
# floating point, libc, 128-bit helpers, calls that are not inlined. Needs clang, gcc and readelf.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

bpf="clang -target bpf -O2 -g -mcpu=v3 -fno-strict-aliasing -Wall -Werror -Iinclude"
native="gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude"
fail() { echo "check-bpf: $*" >&2; exit 1; }

for tool in clang gcc readelf; do
	command -v "$tool" >/dev/null || fail "$tool is not installed; 'make deps' installs it"
done

for header in include/mousehole/*.h; do
	name=$(basename "$header" .h)
	grep -q "CHECK_$name\$" bpf/compile_check.c || [ "$name" = base ] || fail "bpf/compile_check.c has no CHECK_$name"
	$bpf "-DCHECK_$name" -c bpf/compile_check.c -o "$out/$name.o" || fail "$header does not compile for eBPF"
	$native "-DCHECK_$name" -c bpf/compile_check.c -o "$out/$name.native.o" || fail "$header does not compile natively"
	code=$($native -E -P "-DCHECK_$name" bpf/compile_check.c)
	if echo "$code" | grep -nE '\b(float|double|__int128)\b|[0-9]\.[0-9]'; then
		fail "$header uses floating point or 128-bit integers"
	fi
	if grep -n '^#include <' "$header"; then fail "$header includes a system header"; fi
	undefined=$(readelf -sW "$out/$name.o" | awk '$7 == "UND" && $8 != "" { print $8 }')
	[ -z "$undefined" ] || fail "$header calls $undefined"
	echo "check-bpf: $name ok"
done
