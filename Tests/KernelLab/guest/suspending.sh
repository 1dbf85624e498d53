# shellcheck shell=bash
# Suspend to memory (ACPI S3); scripts/kernel-lab runs scenarios that call this on a separate machine.

# Suspends the machine for some seconds; the alarm of the real-time clock wakes it: suspend_machine SECONDS
suspend_machine() {
    quiet
    echo deep >/sys/power/mem_sleep
    echo 0 >/sys/class/rtc/rtc0/wakealarm
    echo "+$1" >/sys/class/rtc/rtc0/wakealarm
    echo mem >/sys/power/state
}
