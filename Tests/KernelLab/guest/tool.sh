# shellcheck shell=bash disable=SC2154 # The scenario runner sets netwatch and work.
# The tool under test, and its output.

options=() watcher='' recorder='' observer=''

# Starts the tool: its output goes to `watch`, its recording to `capture`. Options are for both.
begin() {
    options=("$@")
    : >"$work/options"
    [ $# = 0 ] || printf '%s\n' "$*" >"$work/options"
    # The kernel's messages and their times, by the kernel's own clock; the buffer never overruns.
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

# The number of lines that the tool has printed, and the last one.
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

# Whether the last line has a status, and the interface of the path if one is given.
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

# Waits until the tool's last line has a status, and the interface of the path if one is given.
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

# Whether every netlink socket has been read to its end.
all_is_read() {
    local groups unread
    while read -r _ _ _ groups unread _; do
        [ "$groups" = 00000000 ] || [ "$unread" = 0 ] || [ "$unread" = Rmem ] || return 1
    done </proc/net/netlink
}

# Whether the tool has read all of the kernel's messages so far.
has_taken_all() { all_is_read && sleeps "$watcher" && sleeps "$recorder" && all_is_read; }

# Whether no duplicate address detection is under way: the message that ends it is sent one to two seconds after the
# interface gets its carrier, and would be a reason of an unrelated change.
no_address_is_tentative() {
    local flags name
    while read -r _ _ _ _ flags name; do
        # IFA_F_TENTATIVE without IFA_F_DADFAILED: the detection is under way.
        [ $((0x$flags & 0x48)) -ne $((0x40)) ] || says "/sys/class/net/$name/operstate" down || return 1
    done </proc/net/if_inet6
}
is_settled() { no_address_is_tentative && has_taken_all; }

# Waits until the tool, if it was started, has read all of the kernel's messages, so that the next change stands alone.
quiet() { [ -z "$watcher" ] || eventually 10 is_settled; }

# Prints the status once, next to the running monitor; the output has its place in the sequence.
ask_status() {
    quiet
    "$netwatch" status --json "${options[@]}" >>"$work/status" || true
    quiet
}

# The same in another network namespace, which no capture covers.
ask_status_in() { "$netwatch" status --json --netns "$1" >>"$work/elsewhere" || true; }

# Ends the tool when it has printed everything.
finish() {
    quiet
    kill "$watcher" "$recorder"
    wait "$watcher" || fail "watch ended with $?"
    wait "$recorder" || fail "record ended with $?"
    kill "$observer"
    wait "$observer" || true
    [ ! -s "$work/errors" ] || fail "the tool had something to say: $(<"$work/errors")"
}
