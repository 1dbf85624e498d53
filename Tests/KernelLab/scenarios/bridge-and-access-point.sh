# shellcheck shell=bash
# A bridge joins this machine's own access point and a modem: the access point is no uplink.
plug_radios 1
plug_modem 19d2:1003
await_link wwan0
ip link add br0 type bridge
start_own_access_point wlan0 1 shared
ip link set dev wlan0 master br0
ip link set dev wwan0 master br0
ip link set dev wwan0 up
ip link set dev br0 up
await_operstate wlan0 up
begin
give_address br0 198.51.100.2/24
give_default br0 198.51.100.1 700
await notReachable
set_connection up
await cellular br0
judge wwan0=operator/usb0
ask_status
set_connection down
await notReachable
judge wwan0=operator/usb0
