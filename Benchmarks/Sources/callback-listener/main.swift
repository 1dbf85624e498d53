import Glibc
import Reachability

// The monitor's side of the latency benchmark: the moment at which a callback runs is written to stdout.
//
// callback-listener CPU immediate|executor

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

func pin(to cpu: Int) {
    guard cpu >= 0 else { return }
    var set = cpu_set_t()
    withUnsafeMutableBytes(of: &set) { $0[cpu / 8] = 1 << (cpu % 8) }
    sched_setaffinity(0, MemoryLayout<cpu_set_t>.size, &set)
}

pin(to: CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? -1 : -1)
let immediate = CommandLine.arguments.count < 3 || CommandLine.arguments[2] == "immediate"
let monitor = try ReachabilityMonitor()
let subscription = monitor.subscribe(deliverOn: immediate ? .immediate : .serial) { change in
    report(change.previous == nil ? 0 : now())
}
while true { pause() }
