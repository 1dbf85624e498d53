# shellcheck shell=bash
# The default route leads out of this machine's own access point, which has only clients.
plug_radios 1
start_own_access_point wlan0 1 shared
await_operstate wlan0 up
begin
give_address wlan0 192.0.2.2/24
give_default wlan0 192.0.2.1 600
judge
ask_status
