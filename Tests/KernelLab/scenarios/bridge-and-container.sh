# shellcheck shell=bash
# A bridge joins an Ethernet adapter and a container: when the cable is pulled the container keeps the bridge up, and
# nothing leaves any more.
plug_adapter
await_link eth0
ip netns add container
ip link add veth0 type veth peer name eth0 netns container
ip -n container link set dev eth0 up
ip link add br0 type bridge
ip link set dev eth0 master br0
ip link set dev veth0 master br0
ip link set dev eth0 up
ip link set dev veth0 up
ip link set dev br0 up
begin
set_cable up
await_operstate eth0 up
give_address br0 198.51.100.2/24
give_default br0 198.51.100.1 100
await wifi br0
judge eth0=office/usb0
ask_status
set_cable down
await notReachable
judge eth0=office/usb0
set_cable up
await wifi br0
judge eth0=office/usb0
