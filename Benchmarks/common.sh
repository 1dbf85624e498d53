# Shared by the benchmark scripts. Each enters a new user and network namespace, so that it does not affect the machine
# and needs no privilege.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$here")
# The checkout whose builds are measured.
measured=${NETWATCH_BENCH_CHECKOUT:-$top}
bin=$measured/Benchmarks/.build/release
netwatch=$measured/.build/release/netwatch

# Builds both sides once: the tool as it is shipped, and the programs for comparison.
build() {
    "$top/scripts/build-release" netwatch
    (cd "$here" && swift build -c release --static-swift-stdlib >&2)
}

# Builds the clients of http-package: all, as the build of a single product has later ones build the packages' tools, too.
build_clients() { (cd "$package" && swift build -c release >&2); }

# Runs this script again, inside new namespaces.
enter() {
    [ "${NETWATCH_BENCH_INSIDE:-}" = 1 ] && return
    [ "${NETWATCH_BENCH_BUILD:-1}" = 0 ] || build
    NETWATCH_BENCH_INSIDE=1 exec unshare -rn bash "$0" "$@"
}

# A machine with one interface that carries a default route; its peer is the far end.
machine() {
    ip link set lo up
    ip link add w0 type veth peer name w1
    ip addr add 192.0.2.100/24 dev w0
    ip link set w1 up
    ip link set w0 up
    until [ "$(cat /proc/sys/net/ipv4/conf/w0/forwarding)" ] && ip -o link show w0 | grep -q 'state UP'; do :; done
    ip route add default via 192.0.2.1 dev w0
}

# median NUMBER...
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ratio A B
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }

# CPU seconds that a process has used, in ticks of 10 ms, finer by schedstat (nanoseconds of all its threads).
cpu_ms() { cat /proc/"$1"/task/*/schedstat | awk '{ t += $1 } END { printf "%.3f", t / 1e6 }'; }
