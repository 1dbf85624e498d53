# shellcheck shell=bash
# IPv6 over an IPv4 path: each family has an interface of its own, and WiFi carries both.
plug_radios 2
start_access_point wlan1 1 cafe
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
begin
ip link add six type sit local 192.0.2.2 remote 203.0.113.9 ttl 64
quiet
set_up six
give_address six 2001:db8:6::2/64
ip -6 route add default dev six metric 1024
quiet
await wifi
ask_status
leave wlan0
await notReachable
