# shellcheck shell=bash
# A PPP connection that the user has told to be a modem's.
begin --kind 'ppp*=cellular'
connect_ppp
give_ppp_default
await cellular ppp0
ask_status
disconnect_ppp
await notReachable
