import Reachability

let monitor = try ReachabilityMonitor()
print("now:", monitor.status.name)

for await change in monitor.changes {
    let interface = change.path.interface.map { "\($0.name) (\($0.kind))" } ?? "no path"
    print(change.status.name, interface, change.reasons.map(\.rawValue))
    if change.status == .cellular { print("reduce traffic") }
}
