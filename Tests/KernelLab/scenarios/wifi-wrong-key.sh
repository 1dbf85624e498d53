# shellcheck shell=bash
# The key is not the access point's: the station associates, and never becomes reachable.
plug_radios 2
start_access_point wlan1 1 home secret-words
begin
set_up wlan0
await_operstate wlan0 down
give_address wlan0 192.0.2.2/24
give_default wlan0 192.0.2.1 600
start_station wlan0 home other-words
await_reason path.associating
await_reason path.noCarrier
control_station wlan0 disable_network 0
ask_status
