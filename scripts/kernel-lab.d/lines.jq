# Writes what the tool said as JSON lines in the form that the expected files have: a line of text each.
#
#   EVENT STATUS [INTERFACE over CARRIERS, FAMILIES[, expensive]]: REASONS
#
# Times and numbers that differ from run to run are left out. An interface that has come back under another index is
# NAME#2. What `netwatch status` said stands as event `status`, or `elsewhere` where it was asked about another network
# namespace, and tells how the kind of each interface is known; a line `radio` tells what its radios said.

def note($interface):
    if $interface == null then .
    else .[$interface.name] |= ((. // []) | if index($interface.index) then . else . + [$interface.index] end)
    end;

def named($seen):
    .index as $index
    | ($seen[.name] | index($index)) as $earlier
    | if $earlier == 0 then .name else "\(.name)#\($earlier + 1)" end;

def described($seen):
    "\(named($seen)) (" + ([.kind, .by // empty] | join(" ")) + ")";

def families:
    [if .ipv4 then "ipv4" else empty end, if .ipv6 then "ipv6" else empty end] | join("+");

def path($seen):
    if .interface == null then ""
    else " " + (.interface | described($seen)) + " over " + ([.carriers[] | described($seen)] | join(", ")) + ", " + families
        + if .expensive then ", expensive" else "" end
    end;

def radios:
    .path.carriers[] | select(.wifi)
    | "radio \(.name): " + (.wifi | "\(.ssid), \(.bssid), \(.frequency) MHz, \(.signal) dBm");

def told($event):
    [.[] | select(. != "monitor.initial" or $event == "state") | " " + .] | join("");

[inputs] | sort_by(.time)
| foreach .[] as $line (
    {};
    reduce ($line.path.interface, $line.path.carriers[]) as $interface (.; note($interface));
    . as $seen | $line
    | ("\(.event) \(.status)\(.path | path($seen)):\(.reasons | told($line.event))", radios)
)
