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
