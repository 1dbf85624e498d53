# shellcheck shell=bash
# One default route over WiFi and a modem: some connections take the one, and some the other.
plug_radios 2
start_access_point wlan1 1 cafe
plug_modem 19d2:1003
await_link wwan0
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip link set dev wwan0 up
ip address add 198.51.100.2/24 dev wwan0
set_connection up
await_operstate wwan0 up
begin
ip route add default nexthop via 192.0.2.1 dev wlan0 nexthop via 198.51.100.1 dev wwan0
await cellular
judge wlan0=home/wlan1 wwan0=operator/usb0
# What is sent from the modem's address leaves by WiFi; before Linux 6.16, what is sent from WiFi's may leave by either.
ip route add default via 192.0.2.1 dev wlan0 table 101
ip rule add from 198.51.100.2 lookup 101
judge wlan0=home/wlan1 wwan0=operator/usb0
ip rule delete from 198.51.100.2 lookup 101
ask_status
leave wlan0
await_reason path.deadLeg
ask_status
