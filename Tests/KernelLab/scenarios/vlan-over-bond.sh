# shellcheck shell=bash
# A VLAN over a bond of WiFi and a modem: what carries it is two interfaces away.
plug_radios 2
start_access_point wlan1 1 cafe
plug_modem 19d2:1003
await_link wwan0
make_bond wlan0 wwan0
ip link add link bond0 name office type vlan id 7
ip link set dev office up
begin
join wlan0 cafe
set_connection up
await_operstate wwan0 up
await_operstate office up
give_address office 192.0.2.2/24
give_default office 192.0.2.1 600
await wifi office
ask_status
leave wlan0
await cellular office
ask_status
