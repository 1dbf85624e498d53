# shellcheck shell=bash
# The machine is suspended to memory while a station is associated: the kernel disassociates it, and the tool tells so
# when the machine has resumed.
plug_radios 2
start_access_point wlan1 1 cafe
join wlan0 cafe
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
begin
judge wlan0=home/wlan1
suspend_machine 3
await notReachable
# nl80211 tells the end of an association at once, and the link up to a second later, which is all that a new process sees.
await_operstate wlan0 down
judge wlan0=home/wlan1
stop_access_point wlan1
start_access_point wlan1 1 cafe
join wlan0 cafe
await wifi wlan0
judge wlan0=home/wlan1
