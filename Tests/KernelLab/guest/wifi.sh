# shellcheck shell=bash disable=SC2154 # The scenario runner sets work.
# Radios, access points and stations.

# Plugs in virtual radios, which all hear each other: wlan0 is the first.
plug_radios() {
    modprobe mac80211_hwsim radios="$1"
    await_link "wlan$(($1 - 1))"
}
unplug_radios() { modprobe -r mac80211_hwsim; }

phy_of() { cat "/sys/class/net/$1/phy80211/name"; }

# Moves a radio to a network namespace, which is made if it does not exist: hand_over WLAN NAMESPACE
hand_over() {
    local phy
    phy=$(phy_of "$1")
    # The debugfs entries stay under the interface's former name.
    printf -v "phy_$1" %s "$phy"
    [ -e "/run/netns/$2" ] || ip netns add "$2"
    iw phy "$phy" set netns name "$2"
}

# Starts an access point in the namespace `home`: start_access_point WLAN CHANNEL SSID [PASSPHRASE]
start_access_point() {
    has_no_link "$1" || hand_over "$1" home
    configure_access_point "$@"
    ip netns exec home hostapd -B -P "$work/$1.pid" "$work/hostapd-$1.conf"
    ip -n home address replace 192.0.2.1/24 dev "$1"
}

# Starts an open access point of this machine's own: start_own_access_point WLAN CHANNEL SSID
start_own_access_point() {
    configure_access_point "$@"
    hostapd -B -P "$work/$1.pid" "$work/hostapd-$1.conf"
}

# Writes hostapd's configuration: configure_access_point WLAN CHANNEL SSID [PASSPHRASE]
configure_access_point() {
    printf 'interface=%s\ndriver=nl80211\nssid=%s\nhw_mode=g\nchannel=%s\n' "$1" "$3" "$2"
    # A station with the wrong key is rejected after one attempt instead of four.
    [ $# -lt 4 ] || printf '%s\n' wpa=2 wpa_key_mgmt=WPA-PSK rsn_pairwise=CCMP wpa_pairwise_update_count=1 \
        "wpa_passphrase=$4"
} >"$work/hostapd-$1.conf"

# Ends an access point's program, and waits for its end.
stop_access_point() {
    local process
    process=$(<"$work/$1.pid")
    kill "$process"
    eventually 10 test ! -e "/proc/$process"
}

# Makes a station associate: start_station WLAN SSID [PASSPHRASE]
#
# It scans only the access points' channels, which is faster.
start_station() {
    local file=$work/supplicant-$1.conf
    {
        printf 'ctrl_interface=%s\n' "$work/control"
        printf 'network={\n ssid="%s"\n scan_freq=2412 2437\n' "$2"
        if [ $# -gt 2 ]; then printf ' psk="%s"\n key_mgmt=WPA-PSK\n}\n' "$3"; else printf ' key_mgmt=NONE\n}\n'; fi
    } >"$file"
    wpa_supplicant -B -P "$work/$1.pid" -i "$1" -D nl80211 -c "$file" -f "$work/supplicant-$1.log"
}

# Makes a station roam to another access point of its network, and waits for that: roam_to WLAN BSSID
roam_to() {
    control_station "$1" scan freq=2412,2437
    eventually 10 is_told_to_roam "$@"
    eventually 10 is_associated_with "$1" "$2"
    await_operstate "$1" up
    quiet
}
# It accepts the command only when the scan has found that access point.
is_told_to_roam() { [ "$(control_station "$1" roam "$2")" = OK ]; }
is_associated_with() { iw dev "$1" link | grep -q "$2"; }

# Joins an open network without a supplicant: join WLAN SSID
#
# The kernel can lose an attempt to connect, for example just after it resumed, and then tells no end of it.
join() {
    ip link set dev "$1" up
    eventually 30 is_connected_to "$@"
}
is_connected_to() {
    timeout 5 iw dev "$1" connect -w "$2" 2412 || {
        leave "$1"
        return 1
    }
}
leave() { iw dev "$1" disconnect; }

stop_station() { stop_access_point "$1"; }
control_station() { wpa_cli -p "$work/control" -i "$@"; }

# Which radios hear each other: those that have a bit of this mask in common.
set_group() {
    local variable=phy_$1
    echo "$2" >"/sys/kernel/debug/ieee80211/${!variable:-$(phy_of "$1")}/hwsim/group"
}
