import Reachability

// The other ways to hear of the network, on the same engine as the first program's.

let monitor = try ReachabilityMonitor()

// A callback, as long as the subscription is kept.
let subscription = monitor.subscribe { change in print("callback:", change.status.name) }

// A wait with a limit; it throws ReachabilityError when the time is up.
let change = try await monitor.wait(for: .reachable, timeout: .seconds(30))
print("waited for:", change.status.name)

// The kernel's path to one host, whose name is resolved; monitor.paths(to:) follows it.
let host = try await monitor.path(to: "192.0.2.7")
print("192.0.2.7 through", host.best?.interface?.name ?? "nothing")

// Which WiFi networks the path leads through, and how strong their signals are here.
let networks = try await monitor.wifiDetails()
print("networks:", networks.map { "\($0.ssid ?? "no name") at \($0.signal ?? 0) dBm" })

subscription.cancel()
