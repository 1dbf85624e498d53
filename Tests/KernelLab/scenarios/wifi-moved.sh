# shellcheck shell=bash
# An associated station is moved to another network namespace, and associates again there.
plug_radios 2
start_access_point wlan1 1 cafe
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
begin
ask_status
hand_over wlan0 away
await notReachable
ip -n away link set dev wlan0 up
ip netns exec away iw dev wlan0 connect -w cafe 2412
ip -n away address add 192.0.2.2/24 dev wlan0
ip -n away route add default via 192.0.2.1 dev wlan0 metric 600
ask_status_in away
