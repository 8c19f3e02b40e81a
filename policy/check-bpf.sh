#!/bin/sh
# Compiles every policy header on its own for the eBPF target and natively, and refuses what would not load:
# floating point, 128-bit integers, system headers, calls that are not inlined, structs with hidden padding. What stands
# under MH_DESCRIBE is for user space and may use them. The script finds the headers itself. A policy's functions get
# bodies from bpf/entries.h; the functions of any other header get them by being `used`. Needs clang, gcc and readelf.
#
# `check-bpf.sh HEADER …` checks these headers instead of those in include/mousehole.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Without system headers, as a kernel program has none.
include="-nostdinc -I$here/include -I$here"
bpf="clang -target bpf -O2 -g -mcpu=v3 -fno-strict-aliasing -Wall -Werror $include"
native="gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Wpadded -Werror $include"
fail() { echo "check-bpf: $*" >&2; exit 1; }

for tool in clang gcc readelf; do
	command -v "$tool" >/dev/null || fail "$tool is not installed; 'make deps' installs it"
done

# A header that describes a policy of its own name.
is_policy() { grep -Eq "^MH_(MARKER|DROPPER)\($1," "$header"; }

[ $# -gt 0 ] || set -- "$here"/include/mousehole/*.h
for header; do
	name=$(basename "$header" .h)
	policy=$(echo "$name" | tr - _)
	source=$out/$name.c
	{
		if is_policy "$policy"; then
			echo '#include "bpf/entries.h"'
		else
			echo '#define MH_FN static inline __attribute__((always_inline, used))'
		fi
		echo "#include \"$(cd "$(dirname "$header")" && pwd)/$name.h\""
	} > "$source"
	$bpf -c "$source" -o "$out/$name.o" || fail "$header does not compile for eBPF"
	$native -c "$source" -o "$out/$name.native.o" || fail "$header does not compile natively"
	code=$($native -E -P "$source")
	if echo "$code" | grep -nE '\b(float|double|__int128)\b|[0-9]\.[0-9]'; then
		fail "$header uses floating point or 128-bit integers"
	fi
	undefined=$(readelf -sW "$out/$name.o" | awk '$7 == "UND" && $8 != "" { print $8 }')
	[ -z "$undefined" ] || fail "$header calls $undefined"
	functions=$(readelf -sW "$out/$name.o" | awk '$4 == "FUNC"' | wc -l)
	[ "$functions" -gt 0 ] || [ "$name" = policy ] || fail "$header: no function was compiled"
	echo "check-bpf: $name ok, $functions functions"
done
