# shellcheck shell=bash
# A modem that looks like Ethernet is plugged in, connects, is pulled out, and comes back under another number.
begin
plug_modem 19d2:1003
await_link wwan0
quiet
set_up wwan0
await_operstate wwan0 down
give_address wwan0 198.51.100.2/24
give_default wwan0 198.51.100.1 700
set_connection up
await cellular wwan0
ask_status
set_connection down
await notReachable
set_connection up
await cellular wwan0
unplug_modem
await notReachable
set_connection down
replug_modem
await_link wwan0
quiet
set_up wwan0
await_operstate wwan0 down
give_address wwan0 198.51.100.2/24
set_connection up
await_operstate wwan0 up
give_default wwan0 198.51.100.1 700
await cellular wwan0
ask_status
