import Outbox

struct Reading: Encodable { var celsius: Double }

let arguments = Array(CommandLine.arguments.dropFirst())
let session = try HTTPSession(configuration: .init(retry: .standard))
let outbox = try await Outbox(at: arguments.first ?? "/var/lib/robot/outbox", session: session)
let telemetry = outbox.lane("telemetry", to: arguments.dropFirst().first ?? "https://api.example.com/v1")

let id = try await telemetry.post("readings", .json(Reading(celsius: 20.5)))
print("on disk:", id)

for try await outcome in outbox.outcomes {
    print(outcome.id, outcome.end, outcome.response?.status ?? 0)
    try await outcome.acknowledge()
    if outcome.id == id { break }
}
await outbox.shutdown()

/// A lane for files that are too large for a modem.
func addLog(_ file: String, to outbox: Outbox) async throws {
    let options = LaneOptions(order: .unordered(width: 2), importance: .bulk, path: .notExpensive)
    let logs = outbox.lane("logs", to: "https://logs.example.com", options)
    try await logs.put("drives/7", .file(file, .move), options: .init(credential: "cloud", userInfo: ["drive": "7"]))
}

/// A file that is downloaded at night, and is there when the program is started next.
func downloadMap(in outbox: Outbox) async throws {
    let atNight = LaneOptions(path: .notExpensive, hours: .init(from: 22, to: 6))
    let maps = outbox.lane("maps", to: "https://maps.example.com", atNight)
    try await maps.download("tiles/7.bin", to: "/var/lib/robot/map.bin")
}

/// An outbox with credentials, which are never on disk.
func openWithCredentials(session: HTTPSession) async throws -> Outbox {
    try await Outbox(at: "/var/lib/robot/outbox", session: session) { name in
        .bearer(try await vault.token(name))
    }
}

/// A lane whose items are sent one after the other, 500 in a request.
func addToBatch(_ reading: Reading, in outbox: Outbox) async throws {
    let options = LaneOptions(
        order: .ordered(isStrict: true),
        batch: .ndjson(items: 500, linger: .seconds(5))
    )
    try await outbox.lane("readings", to: "https://api.example.com/v1", options).post("batch", .json(reading))
}

/// A source of tokens, such as the system's key ring.
struct Vault: Sendable {
    func token(_ name: String) async throws -> String { "token of \(name)" }
}

let vault = Vault()
