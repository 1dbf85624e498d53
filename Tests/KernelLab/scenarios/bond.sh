# shellcheck shell=bash
# A bond holds WiFi and a modem: it fails over from the one to the other, and back.
plug_radios 2
start_access_point wlan1 1 home secret-words
plug_modem 19d2:1003
await_link wwan0
make_bond wlan0 wwan0
# A port is used once it has had a carrier for this long: an association takes less.
ip link set dev bond0 type bond updelay 1000
begin
start_station wlan0 home secret-words
await_operstate bond0 up
give_address bond0 192.0.2.2/24
give_default bond0 192.0.2.1 600
await wifi bond0
ask_status
set_connection up
await_operstate wwan0 up
quiet
control_station wlan0 disconnect
await cellular bond0
ask_status
control_station wlan0 reconnect
await wifi bond0
