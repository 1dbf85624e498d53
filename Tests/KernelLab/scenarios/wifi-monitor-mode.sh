# shellcheck shell=bash
# A station becomes a monitor, of which the kernel's link messages say nothing, and a station again.
plug_radios 2
start_access_point wlan1 1 cafe
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
begin
leave wlan0
await notReachable
set_down wlan0
await_reason link.down
iw dev wlan0 set type monitor
quiet
set_up wlan0
eventually 10 says /sys/class/net/wlan0/carrier 1
give_default wlan0 192.0.2.1 600
await_reason route.added
ask_status
set_down wlan0
await_reason link.down
iw dev wlan0 set type managed
quiet
join wlan0 cafe
await_operstate wlan0 up
give_default wlan0 192.0.2.1 600
await wifi wlan0
ask_status
