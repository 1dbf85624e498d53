# shellcheck shell=bash
# A team holds WiFi and a modem: its daemon chooses the port, whatever has a carrier.
plug_radios 2
start_access_point wlan1 1 cafe
plug_modem 19d2:1003
await_link wwan0
make_team wlan0 wwan0
begin
join wlan0 cafe
set_connection up
await_operstate wwan0 up
await_operstate wlan0 up
await_operstate team0 up
set_active_port wlan0
give_address team0 192.0.2.2/24
give_neighbour team0 192.0.2.1
give_default team0 192.0.2.1 600
await wifi team0
judge wlan0=home/wlan1 wwan0=operator/usb0
ask_status
set_active_port wwan0
await cellular team0
# With the team's address the kernel forgets its neighbours.
eventually 10 has_address_of team0 wwan0
give_neighbour team0 192.0.2.1
judge wlan0=home/wlan1 wwan0=operator/usb0
ask_status
set_active_port wlan0
await wifi team0
eventually 10 has_address_of team0 wlan0
give_neighbour team0 192.0.2.1
judge wlan0=home/wlan1 wwan0=operator/usb0
