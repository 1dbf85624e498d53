# shellcheck shell=bash
# A station associates by WPA2, gets an address and a route, is told to leave, and comes back.
plug_radios 2
start_access_point wlan1 1 home secret-words
begin
start_station wlan0 home secret-words
await_operstate wlan0 up
give_address wlan0 192.0.2.2/24
give_default wlan0 192.0.2.1 600
await wifi wlan0
ask_status
control_station wlan0 disconnect
await notReachable
ask_status
control_station wlan0 reconnect
await wifi wlan0
