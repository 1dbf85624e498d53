# shellcheck shell=bash
# A bond's one port is a station with the wrong key: the bond is up while the station waits for its keys, and carries
# nothing.
plug_radios 2
start_access_point wlan1 1 home secret-words
# The bond looks at its port seldom, so that its own loss of carrier comes well after that of the station.
ip link add bond0 type bond mode active-backup miimon 500 fail_over_mac active
ip link set dev wlan0 down
ip link set dev wlan0 master bond0
ip link set dev bond0 up
begin
await_operstate bond0 down
give_address bond0 192.0.2.2/24
give_default bond0 192.0.2.1 600
start_station wlan0 home other-words
await_reason path.associating
judge wlan0=home/wlan1
await_reason path.noCarrier
control_station wlan0 disable_network 0
await_operstate wlan0 down
judge wlan0=home/wlan1
ask_status
