# shellcheck shell=bash disable=SC2154 # The scenario runner sets netwatch and work.
# The tool under test, and what it said.

options=() watcher='' recorder='' observer=''

# Starts the tool: what it prints goes to `watch`, what it records to `capture`. Options are for both.
begin() {
    options=("$@")
    : >"$work/options"
    [ $# = 0 ] || printf '%s\n' "$*" >"$work/options"
    # What the kernel says and when, by the kernel's own clock; a buffer that is never full.
    tcpdump -Z root -i nlmon0 -U -B 8192 --immediate-mode -w "$work/kernel.pcap" 2>"$work/tcpdump.log" &
    observer=$!
    : >"$work/watch"
    eventually 10 grep -q listening "$work/tcpdump.log"
    "$netwatch" record "$work/capture.pcap" "${options[@]}" 2>"$work/errors" &
    recorder=$!
    "$netwatch" watch --json "${options[@]}" >>"$work/watch" 2>>"$work/errors" &
    watcher=$!
    eventually 10 has_lines 1
    eventually 10 test -s "$work/capture.pcap"
    quiet
}

# How many lines the tool has printed, and the last.
line_count=0 last_line=
read_lines() {
    local lines=()
    mapfile -t lines <"$work/watch"
    line_count=${#lines[@]}
    [ "$line_count" = 0 ] || last_line=${lines[-1]}
}
has_lines() {
    read_lines
    [ "$line_count" -ge "$1" ]
}

# Whether the last line tells a status, and the interface of the path if one is given.
tells() {
    read_lines
    [[ $last_line == *'"status":"'"$1"'"'* ]] || return 1
    [ $# -lt 2 ] || [[ $last_line =~ \"path\":\{\"interface\":\{\"index\":[0-9]+,\"name\":\"$2\" ]]
}

# Whether the last line ends with a reason.
gives_reason() {
    read_lines
    [[ $last_line == *'"reasons":['*"\"$1\""* ]]
}
await_reason() {
    eventually 15 gives_reason "$1"
    quiet
}

# Waits until the tool's last line tells a status, and the interface of the path if one is given.
await() {
    eventually 15 tells "$@"
    quiet
}

# Whether a process sleeps, with all its threads.
sleeps() {
    local file text
    for file in "/proc/$1"/task/*/stat; do
        read -r text <"$file" || return 1
        text=${text##*) }
        [ "${text%% *}" = S ] || return 1
    done
}

# Whether every socket that listens to the kernel was read to its end.
all_is_read() {
    local groups unread
    while read -r _ _ _ groups unread _; do
        [ "$groups" = 00000000 ] || [ "$unread" = 0 ] || [ "$unread" = Rmem ] || return 1
    done </proc/net/netlink
}

# Whether the tool has taken all that the kernel has said so far.
has_taken_all() { all_is_read && sleeps "$watcher" && sleeps "$recorder" && all_is_read; }

# Whether no IPv6 address is still looked for on its link: the message that ends this comes one to two seconds after the
# interface has its carrier, and would be told among the reasons of whatever change it meets.
no_address_is_tentative() {
    local flags name
    while read -r _ _ _ _ flags name; do
        # IFA_F_TENTATIVE without IFA_F_DADFAILED, where the search goes on.
        [ $((0x$flags & 0x48)) -ne $((0x40)) ] || says "/sys/class/net/$name/operstate" down || return 1
    done </proc/net/if_inet6
}
is_settled() { no_address_is_tentative && has_taken_all; }

# Waits until the tool, if it was started, has taken all that the kernel has to say: what comes next is judged by itself.
quiet() { [ -z "$watcher" ] || eventually 10 is_settled; }

# Asks for the status once, beside what runs; the answer has its place in the sequence.
ask_status() {
    quiet
    "$netwatch" status --json "${options[@]}" >>"$work/status" || true
    quiet
}

# The same in another network namespace, of which no capture tells.
ask_status_in() { "$netwatch" status --json --netns "$1" >>"$work/elsewhere" || true; }

# Ends the tool when it has said all.
finish() {
    quiet
    kill "$watcher" "$recorder"
    wait "$watcher" || fail "watch ended with $?"
    wait "$recorder" || fail "record ended with $?"
    kill "$observer"
    wait "$observer" || true
    [ ! -s "$work/errors" ] || fail "the tool had something to say: $(<"$work/errors")"
}
