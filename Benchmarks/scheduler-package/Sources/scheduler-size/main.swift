import CHeap
import ClientRun
import RequestGate

// What the scheduler itself takes for each of many requests that wait, and how long it takes to take any of them out.
//
// scheduler-size REQUESTS

let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 1_000_000 : 1_000_000
let start = BootInstant(nanoseconds: 0)
let before = heap_in_use()
var scheduler = RequestScheduler()
let gate = scheduler.addGate(of: scheduler.addHost(), isOpen: false, at: start)
let order = RequestScheduler.Order(
    gate: gate,
    deadline: start.advanced(by: .seconds(60)),
    traits: .init(isIdempotent: true, isReplayable: true)
)
var ids: [RequestScheduler.RequestID] = []
ids.reserveCapacity(count)
let list = heap_in_use() - before
var clock = nanoseconds()
for _ in 0..<count { ids.append(scheduler.submit(order, at: start)) }
let submitted = nanoseconds() - clock
let taken = heap_in_use() - before - list
ids.shuffle()
clock = nanoseconds()
for id in ids { scheduler.cancel(id, at: start) }
let cancelled = nanoseconds() - clock
let left = heap_in_use() - before - list
print("\(count) waiting: \(Double(taken) / Double(count)) bytes each, \(left) in all once they are gone")
print("\(submitted / count) ns to wait, \(cancelled / count) ns to cancel any")
