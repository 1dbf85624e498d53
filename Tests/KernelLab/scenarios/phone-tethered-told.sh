# shellcheck shell=bash
# The same telephone, and the user has told what it is.
begin --kind 'eth0=cellular'
plug_phone
await_link eth0
set_up eth0
give_address eth0 198.51.100.2/24
set_connection up
await_operstate eth0 up
give_default eth0 198.51.100.1 700
await cellular eth0
ask_status
