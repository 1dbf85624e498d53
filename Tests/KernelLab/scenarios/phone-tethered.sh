# shellcheck shell=bash
# A telephone that shares its connection over USB: nothing in its messages tells it from an Ethernet adapter.
begin
plug_phone
await_link eth0
set_up eth0
give_address eth0 198.51.100.2/24
set_connection up
await_operstate eth0 up
give_default eth0 198.51.100.1 700
await wifi eth0
ask_status
