import Glibc
import NetworkClient

/// Says what is wrong, and ends.
func fail(_ text: String, _ code: Int32) -> Never {
    (text + "\n").withCString { if write(STDERR_FILENO, $0, strlen($0)) < 0 { exit(code) } }
    exit(code)
}

// websocket-client URL MIB COUNT: receives messages of a size, one after the other; the first is not counted.
let arguments = CommandLine.arguments
guard arguments.count == 4, let mebibytes = Int(arguments[2]), let count = Int(arguments[3]), count > 0 else {
    fail("usage: websocket-client URL MIB COUNT", 64)
}
let session = try HTTPSession()
let socket = try await session.webSocket(
    arguments[1],
    webSocketOptions: .init(maximumMessageSize: (mebibytes + 1) << 20)
)
let clock = ContinuousClock()
var durations: [Duration] = []
for number in 0...count {
    let start = clock.now
    try await socket.send("\(mebibytes << 20)")
    guard case .binary(let bytes)? = try await socket.receive(), bytes.count == mebibytes << 20 else {
        fail("the server sent no message of \(mebibytes) MiB", 1)
    }
    if number > 0 { durations.append(start.duration(to: clock.now)) }
}
await socket.close()
durations.sort()
// The median of the seconds for a message.
print(durations[count / 2] / .seconds(1))
