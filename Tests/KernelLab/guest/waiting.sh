# shellcheck shell=bash
# Waiting for events, with a deadline.

# A descriptor on which nothing ever arrives: reading from it waits without starting a process.
exec {nothing}<> <(:)
pause() { read -rt 0.02 -u "$nothing" || true; }

fail() {
    printf 'failed: %s\n' "$*"
    exit 1
}

# Waits until a command succeeds: eventually SECONDS COMMAND [ARGUMENT...]
eventually() {
    local deadline=$((${EPOCHREALTIME/./} + $1 * 1000000))
    shift
    until "$@"; do
        [ "${EPOCHREALTIME/./}" -lt $deadline ] || fail "not within the time: $*"
        pause
    done
}

# Whether a file has one line with a text: says FILE TEXT
says() {
    local text
    { read -r text <"$1"; } 2>/dev/null && [ "$text" = "$2" ]
}

has_link() { [ -e "/sys/class/net/$1" ]; }
has_no_link() { [ ! -e "/sys/class/net/$1" ]; }
await_link() { eventually 10 has_link "$1"; }
# An interface without a carrier is `unknown` for its first moments, and then `down`.
await_operstate() {
    eventually 10 says "/sys/class/net/$1/operstate" "$2"
    quiet
}

# Whether an interface of another network namespace has a carrier: is_running NAMESPACE INTERFACE
is_running() { ip -n "$1" link show dev "$2" | grep -q LOWER_UP; }
