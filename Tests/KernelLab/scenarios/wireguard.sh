# shellcheck shell=bash
# A WireGuard tunnel set up as wg-quick(8) does it, over WiFi first, and over a modem when WiFi is lost.
plug_radios 2
start_access_point wlan1 1 cafe
plug_modem 19d2:1003
await_link wwan0
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
ip link set dev wwan0 up
ip address add 198.51.100.2/24 dev wwan0
set_connection up
await_operstate wwan0 up
ip route add default via 198.51.100.1 dev wwan0 metric 700
begin
make_wireguard wg0 203.0.113.9
set_up wg0
give_address wg0 10.0.0.2/32
ip route add default dev wg0 table 51820
quiet
ip rule add not fwmark 51820 table 51820
quiet
ip rule add table main suppress_prefixlength 0
quiet
await wifi wg0
ask_status
leave wlan0
await notReachable
ip route delete default dev wlan0
await cellular wg0
ask_status
ip link delete dev wg0
await cellular wwan0
