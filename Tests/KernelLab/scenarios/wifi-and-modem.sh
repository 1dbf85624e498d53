# shellcheck shell=bash
# WiFi is preferred by its metric. It is lost, its route is withdrawn, the modem takes over, and WiFi comes back.
plug_radios 2
start_access_point wlan1 1 home secret-words
plug_modem 19d2:1003
await_link wwan0
begin
start_station wlan0 home secret-words
await_operstate wlan0 up
give_address wlan0 192.0.2.2/24
give_default wlan0 192.0.2.1 600
await wifi wlan0
set_up wwan0
give_address wwan0 198.51.100.2/24
set_connection up
await_operstate wwan0 up
give_default wwan0 198.51.100.1 700
ask_status
control_station wlan0 disconnect
await notReachable
ip route delete default dev wlan0
await cellular wwan0
ask_status
control_station wlan0 reconnect
await_operstate wlan0 up
give_default wlan0 192.0.2.1 600
await wifi wlan0
