#!/bin/sh
# Compiles every policy header on its own, natively and for the eBPF target, and the functions of every policy as the
# kernel check calls them. Refuses calls that are not inlined. Needs clang, gcc and readelf. What a policy must not do
# besides is looked for by `mousehole policy check` and by the tests of policy/check.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

calls=check/c/calls.c
bpf="clang -target bpf -O2 -g -mcpu=v3 -fno-strict-aliasing -Wall -Werror -Iinclude"
native="gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Werror -Iinclude"
fail() { echo "check-bpf: $*" >&2; exit 1; }

for tool in clang gcc readelf; do
	command -v "$tool" >/dev/null || fail "$tool is not installed; 'make deps' installs it"
done

for header in include/mousehole/*.h; do
	name=$(basename "$header" .h)
	echo "#include \"mousehole/$name.h\"" >"$out/$name.c"
	$bpf -c "$out/$name.c" -o "$out/$name.o" || fail "$header does not compile for eBPF"
	$native -c "$out/$name.c" -o "$out/$name.native.o" || fail "$header does not compile natively"
	dropper=$(grep -c "^MH_DROPPER($name," "$header" || true)
	queue=$(grep -c "^MH_QUEUE($name," "$header" || true)
	if [ "$dropper" = 1 ] || [ "$queue" = 1 ] || grep -q "^MH_MARKER($name," "$header"; then
		offered=$(sed -n "s/^MH_\([A-Z_]*\)($name)\$/-DMH_CHECK_HAS_\1/p" "$header")
		$bpf $offered "-DMH_CHECK_NAME=$name" "-DMH_CHECK_HEADER=\"mousehole/$name.h\"" "-DMH_CHECK_DROPPER=$dropper" \
			"-DMH_CHECK_QUEUE=$queue" -DMH_CHECK_FLOW_WORDS=1 -DMH_CHECK_STATE_WORDS=1 -c "$calls" -o "$out/$name.calls.o" ||
			fail "the functions of $header do not compile for eBPF"
		undefined=$(readelf -sW "$out/$name.calls.o" | awk '$7 == "UND" && $8 != "" { print $8 }')
		[ -z "$undefined" ] || fail "$header calls $undefined"
	fi
	echo "check-bpf: $name ok"
done
