import Glibc
import Reachability

// The monitor's side of the latency benchmark: the moment at which a callback runs is written to stdout.
//
// callback-listener immediate|serial: pinned to the CPU of the process that starts it

func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func report(_ moment: Int64) {
    withUnsafeBytes(of: moment) { bytes in
        if write(1, bytes.baseAddress, bytes.count) != bytes.count { exit(0) }
    }
}

let immediate = CommandLine.arguments.count < 2 || CommandLine.arguments[1] == "immediate"
let monitor = try ReachabilityMonitor()
let subscription = monitor.subscribe(on: immediate ? .immediate : .serial) { change in
    report(change.previous == nil ? 0 : now())
}
while true { pause() }
