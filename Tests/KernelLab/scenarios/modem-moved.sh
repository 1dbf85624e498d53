# shellcheck shell=bash
# A modem is given to another network namespace: the files of sysfs there tell it from Ethernet.
plug_modem 19d2:1003
await_link wwan0
begin
ip netns add away
ip link set dev wwan0 netns away
ip -n away link set dev wwan0 up
set_connection up
ip -n away address add 198.51.100.2/24 dev wwan0
ip -n away route add default via 198.51.100.1 dev wwan0
eventually 10 is_running away wwan0
ask_status_in away
