# shellcheck shell=bash disable=SC2154 # The scenario runner sets work.
# A PPP connection between this machine and the namespace `operator`, over a pair of pseudo-terminals.

connect_ppp() {
    modprobe ppp_async
    # The system administrator's options are not tested here.
    : >/etc/ppp/options
    ip netns add operator
    pppd nodetach noauth local noipdefault ipcp-accept-local ipcp-accept-remote logfile "$work/pppd.log" \
        198.51.100.2:198.51.100.1 \
        pty "ip netns exec operator pppd notty noauth local 198.51.100.1:198.51.100.2" &
    ppp=$!
    eventually 20 is_connected
    quiet
}
disconnect_ppp() { kill "$ppp"; }
is_connected() { ip -br address show dev ppp0 up 2>/dev/null | grep -qF 198.51.100.2; }
give_ppp_default() {
    ip route add default dev ppp0 metric 700
    quiet
}
