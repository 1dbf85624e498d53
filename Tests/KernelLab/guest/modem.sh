# shellcheck shell=bash
# USB modems without hardware: a gadget with the numbers of a real one, looped back to this machine.

gadget=/sys/kernel/config/usb_gadget/modem

# Makes a modem and plugs it in: plug_modem VENDOR:PRODUCT [FUNCTION]
#
# Its far end is usb0 in the namespace `operator`.
plug_modem() {
    local function=${2:-ecm}.usb0
    mkdir -p $gadget/{strings/0x409,configs/only.1,"functions/$function"}
    echo "0x${1%:*}" >$gadget/idVendor
    echo "0x${1#*:}" >$gadget/idProduct
    echo 1 >$gadget/strings/0x409/serialnumber
    ln -s "$gadget/functions/$function" $gadget/configs/only.1/
    replug_modem
    await_link usb0
    ip netns add operator
    ip link set dev usb0 netns operator
    ip -n operator address add 198.51.100.1/24 dev usb0
}

unplug_modem() { echo >$gadget/UDC; }
replug_modem() { echo dummy_udc.0 >$gadget/UDC; }

# The modem's connection, which is its carrier: set_connection up|down
set_connection() { ip -n operator link set dev usb0 "$1"; }

# A telephone that shares its connection, as cdc_ncm: eth0 here, as its address is a manufacturer's.
plug_phone() {
    mkdir -p "$gadget/functions/ncm.usb0"
    echo 00:00:5e:00:53:01 >"$gadget/functions/ncm.usb0/host_addr"
    plug_modem 18d1:4eeb ncm
}
