# shellcheck shell=bash
# A modem with a separate control channel, and packets in Ethernet frames. Its driver never says that there is no carrier:
# it is for the connection manager to take the address away.
begin
plug_modem 1410:b001
await_link wwan0
quiet
set_up wwan0
give_address wwan0 198.51.100.2/24
give_default wwan0 198.51.100.1 700
await cellular wwan0
ask_status
ip address flush dev wwan0
await notReachable
give_address wwan0 198.51.100.2/24
give_default wwan0 198.51.100.1 700
await cellular wwan0
unplug_modem
await notReachable
