# shellcheck shell=bash
# Addresses and routes, each step taken by the tool before the next.

# give_address INTERFACE ADDRESS/LENGTH
give_address() {
    ip address add "$2" dev "$1"
    quiet
}

# give_default INTERFACE GATEWAY METRIC
give_default() {
    ip route add default via "$2" dev "$1" metric "$3"
    quiet
}

set_up() {
    ip link set dev "$1" up
    quiet
}
set_down() {
    ip link set dev "$1" down
    quiet
}

# A bond that uses its first port while that has a carrier: make_bond FIRST SECOND
make_bond() {
    ip link add bond0 type bond mode active-backup miimon 50 fail_over_mac active
    ip link set dev "$1" down
    ip link set dev "$1" master bond0
    ip link set dev "$2" down
    ip link set dev "$2" master bond0
    ip link set dev bond0 type bond primary "$1"
    ip link set dev bond0 up
}

# A WireGuard interface with one peer, which never answers: make_wireguard NAME ENDPOINT
make_wireguard() {
    ip link add "$1" type wireguard
    wg set "$1" private-key <(wg genkey) fwmark 51820 \
        peer "$(wg genkey | wg pubkey)" endpoint "$2:51820" allowed-ips 0.0.0.0/0,::/0
    quiet
}
