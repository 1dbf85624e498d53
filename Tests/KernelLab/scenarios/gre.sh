# shellcheck shell=bash
# A GRE tunnel over WiFi: its far end has a route of its own.
plug_radios 2
start_access_point wlan1 1 cafe
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
ip route add 203.0.113.9 via 192.0.2.1 dev wlan0
begin
ip link add gre1 type gre local 192.0.2.2 remote 203.0.113.9 ttl 64
quiet
set_up gre1
give_address gre1 10.0.0.2/30
give_default gre1 10.0.0.1 50
await wifi gre1
ask_status
leave wlan0
await notReachable
