# shellcheck shell=bash
# USB modems and Ethernet adapters without hardware: gadgets with the numbers of real devices, looped back to this
# machine.

gadgets=/sys/kernel/config/usb_gadget

# Makes a device and plugs it in: plug_gadget NAME NAMESPACE VENDOR:PRODUCT FUNCTION
#
# Its far end is usb0 in NAMESPACE.
plug_gadget() {
    local gadget=$gadgets/$1
    mkdir -p "$gadget"/{strings/0x409,configs/only.1,"functions/$4.usb0"}
    echo "0x${3%:*}" >"$gadget/idVendor"
    echo "0x${3#*:}" >"$gadget/idProduct"
    echo 1 >"$gadget/strings/0x409/serialnumber"
    ln -s "$gadget/functions/$4.usb0" "$gadget/configs/only.1/"
    plug_in "$1"
    await_link usb0
    ip netns add "$2"
    ip link set dev usb0 netns "$2"
    ip -n "$2" address add 198.51.100.1/24 dev usb0
}

# The controllers of dummy_hcd: one for each device.
plug_in() {
    case $1 in
    modem) echo dummy_udc.0 ;;
    adapter) echo dummy_udc.1 ;;
    esac >"$gadgets/$1/UDC"
}
unplug() { echo >"$gadgets/$1/UDC"; }

# Makes a modem, whose far end is in the namespace `operator`: plug_modem VENDOR:PRODUCT [FUNCTION]
plug_modem() { plug_gadget modem operator "$1" "${2:-ecm}"; }
unplug_modem() { unplug modem; }
replug_modem() { plug_in modem; }

# The modem's connection, which is its carrier: set_connection up|down
set_connection() { ip -n operator link set dev usb0 "$1"; }

# A tethered phone, as cdc_ncm: eth0 here, as its address is a manufacturer's.
plug_phone() {
    mkdir -p $gadgets/modem/functions/ncm.usb0
    echo 00:00:5e:00:53:01 >$gadgets/modem/functions/ncm.usb0/host_addr
    plug_modem 18d1:4eeb ncm
}

# An Ethernet adapter: eth0 here, with the other end of its cable in the namespace `office`.
plug_adapter() {
    mkdir -p $gadgets/adapter/functions/ncm.usb0
    echo 00:00:5e:00:53:02 >$gadgets/adapter/functions/ncm.usb0/host_addr
    plug_gadget adapter office 0b95:1790 ncm
}

# The cable of the adapter, which is its carrier: set_cable up|down
set_cable() { ip -n office link set dev usb0 "$1"; }
