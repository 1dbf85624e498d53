# shellcheck shell=bash
# The access point stops and starts again; the station finds it again.
plug_radios 2
start_access_point wlan1 1 home secret-words
begin
start_station wlan0 home secret-words
await_operstate wlan0 up
give_address wlan0 192.0.2.2/24
give_default wlan0 192.0.2.1 600
await wifi wlan0
stop_access_point wlan1
await notReachable
start_access_point wlan1 1 home secret-words
control_station wlan0 reassociate
await wifi wlan0
