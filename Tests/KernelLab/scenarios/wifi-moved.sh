# shellcheck shell=bash
# A station that is associated is given to another network namespace.
plug_radios 2
start_access_point wlan1 1 home secret-words
start_station wlan0 home secret-words
await_operstate wlan0 up
ip address add 192.0.2.2/24 dev wlan0
ip route add default via 192.0.2.1 dev wlan0 metric 600
begin
ask_status
hand_over wlan0 away
await notReachable
