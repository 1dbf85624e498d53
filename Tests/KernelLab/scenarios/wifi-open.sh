# shellcheck shell=bash
# An open network, joined without a supplicant: the link is up at once, and never dormant.
plug_radios 2
start_access_point wlan1 1 cafe
begin
set_up wlan0
await_operstate wlan0 down
give_address wlan0 192.0.2.2/24
give_default wlan0 192.0.2.1 600
join wlan0 cafe
await wifi wlan0
ask_status
leave wlan0
await notReachable
