# shellcheck shell=bash
# The same modem without Ethernet's headers, as most are used today.
begin
plug_modem 1410:b001
await_link wwan0
echo Y >/sys/class/net/wwan0/qmi/raw_ip
quiet
set_up wwan0
give_address wwan0 198.51.100.2/24
ip route add default dev wwan0 metric 700
set_connection up
await cellular wwan0
ask_status
