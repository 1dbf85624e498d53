# shellcheck shell=bash
# A station leaves the access point's range, which it learns by beacons that do not come, and returns.
plug_radios 2
start_access_point wlan1 1 home secret-words
set_group wlan1 1
set_group wlan0 1
start_station wlan0 home secret-words
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
begin
set_group wlan0 2
await notReachable
set_group wlan0 1
control_station wlan0 reassociate
await wifi wlan0
