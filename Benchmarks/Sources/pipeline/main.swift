import Glibc
import MonitorCore

// What one change of the default route costs in each of the pure rooms, in nanoseconds: the median of many batches.

func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func measure(_ name: String, _ body: (Int) -> Void) {
    let batch = 1_000
    let times = (0..<200).map { _ in
        let before = now()
        for i in 0..<batch { body(i) }
        return Double(now() - before) / Double(batch)
    }.sorted()
    print("\(name): \(times[100]) ns, least \(times[0]) ns")
}

func link(_ index: InterfaceIndex, _ name: String) -> KernelEvent {
    var message = LinkMessage(index: index)
    message.name = name
    message.hardwareType = index == 1 ? .loopback : .ethernet
    message.flags = index == 1 ? [.up, .loopback, .running, .lowerUp] : [.up, .running, .lowerUp]
    message.operationalState = index == 1 ? .unknown : .up
    message.carrier = true
    message.mtu = 1_500
    message.group = 0
    return .link(message)
}

func rule(_ family: AddressFamily, _ priority: UInt32, _ table: RouteTableID) -> KernelEvent {
    var message = RuleMessage(family: family)
    message.priority = priority
    message.table = table
    return .rule(message)
}

func route(via last: UInt32) -> KernelEvent {
    var message = RouteMessage(destination: .all(.ipv4))
    message.nextHops = [.init(interface: 2, gateway: .init(ipv4: 0xC000_0200 + last))]
    message.origin = 4
    return .route(message)
}

let plain = NetlinkHeader(length: 0, type: 0, flags: [.create, .exclusive], sequence: 0, port: 0)
let replacing = NetlinkHeader(length: 0, type: 24, flags: [.replace], sequence: 0, port: 0)
let moment = Instant(nanoseconds: 1)
var snapshot = NetworkSnapshot()
var events = [link(1, "lo"), link(2, "w0"), link(3, "w1")]
events += [AddressFamily.ipv4, .ipv6].flatMap { [rule($0, 0, .local), rule($0, 32_766, .main)] }
events.append(rule(.ipv4, 32_767, .default))
events.append(.address(.init(index: 1, address: .init(ipv4: 0x7F00_0001), prefixLength: 8, scope: .host)))
events.append(.address(.init(index: 2, address: .init(ipv4: 0xC000_0264), prefixLength: 24)))
events.append(route(via: 1))
for event in events { _ = snapshot.apply(event, plain, at: moment) }

let evaluator = PathEvaluator(context: .init(user: 0))
let messages = (0..<2).map { NetlinkEncoder().encode(route(via: UInt32(1 + $0)), flags: .replace) }
let decoder = NetlinkDecoder()
var seen = 0

measure("decode") { i in
    let message = messages[i & 1]
    try? decoder.decode(message.span.bytes) { _, _ in seen += 1 }
}
let changes = [route(via: 1), route(via: 2)]
measure("apply") { i in
    seen += snapshot.apply(changes[i & 1], replacing, at: moment).changed ? 1 : 0
}
measure("evaluate") { _ in
    seen += evaluator.evaluate(snapshot, at: moment).path.reasons.count
}
var last: NetworkPath?
measure("decode, apply, evaluate, compare") { i in
    let message = messages[i & 1]
    try? decoder.decode(message.span.bytes) { header, event in
        guard snapshot.apply(event, header, at: moment).changed else { return }
        let path = evaluator.evaluate(snapshot, at: moment).path
        if path != last { last = path }
    }
}
print(last?.status.name ?? "nothing", seen)
