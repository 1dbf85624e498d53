# shellcheck shell=bash
# Addresses and routes; the tool has handled each step before the next.

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

# A team whose active port is the first that has a carrier: make_team FIRST SECOND
make_team() {
    ip link set dev "$1" down
    ip link set dev "$2" down
    teamd --daemonize --team-dev team0 --config "{
        \"runner\": {\"name\": \"activebackup\", \"hwaddr_policy\": \"by_active\"},
        \"link_watch\": {\"name\": \"ethtool\"},
        \"ports\": {\"$1\": {\"prio\": 100}, \"$2\": {\"prio\": 10}}
    }"
    ip link set dev team0 up
}
set_active_port() { teamdctl team0 state item set runner.active_port "$1"; }

# An L2TPv3 Ethernet tunnel without a control connection, l2tpeth0: make_l2tp LOCAL REMOTE
make_l2tp() {
    modprobe -a l2tp_eth l2tp_netlink
    ip l2tp add tunnel tunnel_id 1 peer_tunnel_id 1 encap udp local "$1" remote "$2" udp_sport 1701 udp_dport 1701
    ip l2tp add session tunnel_id 1 session_id 1 peer_session_id 1
    await_link l2tpeth0
    quiet
}

# Whether an interface has the hardware address of another: has_address_of INTERFACE OTHER
has_address_of() { says "/sys/class/net/$1/address" "$(<"/sys/class/net/$2/address")"; }

# A permanent neighbour entry, which needs no reply: give_neighbour INTERFACE ADDRESS
give_neighbour() { ip neighbour replace "$2" lladdr 02:00:00:00:99:01 dev "$1" nud permanent; }

# A WireGuard interface with one peer, which never replies: make_wireguard NAME ENDPOINT
make_wireguard() {
    ip link add "$1" type wireguard
    wg set "$1" private-key <(wg genkey) fwmark 51820 \
        peer "$(wg genkey | wg pubkey)" endpoint "$2:51820" allowed-ips 0.0.0.0/0,::/0
    quiet
}
