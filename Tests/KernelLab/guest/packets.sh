# shellcheck shell=bash disable=SC2154 # The scenario runner sets netwatch, work and options.
# Packet counters, which check the tool's status.

packet_count=40
# Fewer are neighbour discovery and the like.
least_carried=10

# Sends packets from unmarked, unbound sockets, which the status is about: each to a different address,
# so that routes with several next hops use them all.
send_packets() {
    local number
    for ((number = 1; number <= packet_count; number++)); do
        echo netwatch 2>/dev/null >"/dev/udp/$((number % 2 ? 45 : 180)).$number.7.9/9" || true
    done 2>/dev/null
}

# How many packets the far end of an interface has received: received NAMESPACE/INTERFACE
received() { ip netns exec "${1%/*}" cat "/sys/class/net/${1#*/}/statistics/rx_packets"; }

# Which of the far ends have received more than before; the counts are in `before`.
list_carrying() {
    local far
    for far in "$@"; do
        [ $(($(received "${far#*=}") - ${before[$far]})) -lt $least_carried ] || printf '%s ' "${far%%=*}"
    done
}
has_carrying() { [ -n "$(list_carrying "$@")" ]; }

# Sends packets and fails unless the tool's status agrees with the counters: judge INTERFACE=NAMESPACE/FAR-END...
#
# Every interface through which packets can leave is named, with its far end, where the packets are counted. Reachable
# means that packets leave, and through no interface that is not among the carriers; cellular, that some leave by a modem.
judge() {
    local -A before=()
    local far status carriers carrying deadline
    quiet
    "$netwatch" status --json "${options[@]}" >"$work/judged" || true
    status=$(jq -r .status "$work/judged")
    carriers=" $(jq -r '[.path.carriers[].name] | join(" ")' "$work/judged") "
    for far in "$@"; do before[$far]=$(received "${far#*=}"); done
    send_packets
    # Packets that have not arrived by then are lost: an address that does not resolve fails after three seconds.
    deadline=$((${EPOCHREALTIME/./} + 2000000))
    until has_carrying "$@" || [ "${EPOCHREALTIME/./}" -ge $deadline ]; do pause; done
    carrying=$(list_carrying "$@")
    printf '%s over%s: packets left by %s\n' "$status" "$carriers" "${carrying:-nothing}" | tee -a "$work/packets"
    for far in $carrying; do
        [ "$status" != notReachable ] || fail "'$status' while packets leave by $far"
        [[ $carriers == *" $far "* ]] || fail "'$status' over$carriers while packets leave by $far"
        [[ $far != wwan* || $status = cellular ]] || fail "'$status' while packets leave by $far"
    done
    [ "$status" = notReachable ] || [ -n "$carrying" ] || fail "'$status' while no packet leaves"
    quiet
}
