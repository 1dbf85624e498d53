# shellcheck shell=bash
# A GRE tunnel loses the route to its other end, so that its own packets are sent into it.
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
ip route add 203.0.113.9 via 198.51.100.1 dev wwan0
begin
ip link add gre1 type gre remote 203.0.113.9 ttl 64
quiet
set_up gre1
give_address gre1 10.0.0.2/30
give_default gre1 10.0.0.1 50
await cellular gre1
judge wlan0=home/wlan1 wwan0=operator/usb0
ip route delete 203.0.113.9
await notReachable
judge wlan0=home/wlan1 wwan0=operator/usb0
ask_status
ip route add 203.0.113.9 via 198.51.100.1 dev wwan0
await cellular gre1
judge wlan0=home/wlan1 wwan0=operator/usb0
