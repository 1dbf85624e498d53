# shellcheck shell=bash
# WiFi belongs to a VRF: the default route leads to the VRF device, and its own table leads on.
plug_radios 2
start_access_point wlan1 1 cafe
begin
ip link add blue type vrf table 10
set_up blue
ip link set dev wlan0 master blue
quiet
join wlan0 cafe
await_operstate wlan0 up
give_address wlan0 192.0.2.2/24
ip route add default via 192.0.2.1 dev wlan0 table 10
quiet
ip route add default dev blue
await wifi blue
ask_status
leave wlan0
await notReachable
