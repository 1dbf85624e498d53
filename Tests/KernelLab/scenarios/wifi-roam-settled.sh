# shellcheck shell=bash
# The same, watched by somebody whom short losses do not concern: nothing happens.
plug_radios 3
start_access_point wlan1 1 home secret-words
start_station wlan0 home secret-words
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
start_access_point wlan2 6 home secret-words
begin --settle 5s
roam_to wlan0 02:00:00:00:02:00
ask_status
