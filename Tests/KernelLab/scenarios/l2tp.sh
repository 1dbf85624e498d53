# shellcheck shell=bash
# An L2TPv3 tunnel whose other end is reached by a modem, though the default route leads over WiFi.
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
make_l2tp 198.51.100.2 203.0.113.9
set_up l2tpeth0
give_address l2tpeth0 10.0.0.2/30
give_neighbour l2tpeth0 10.0.0.1
give_default l2tpeth0 10.0.0.1 50
await cellular l2tpeth0
judge wlan0=home/wlan1 wwan0=operator/usb0
ask_status
set_connection down
await notReachable
judge wlan0=home/wlan1 wwan0=operator/usb0
