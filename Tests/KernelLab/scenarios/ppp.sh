# shellcheck shell=bash
# A PPP connection of which nobody told what is behind it: a modem, or a telephone line.
begin
connect_ppp
give_ppp_default
ask_status
