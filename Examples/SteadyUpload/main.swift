import NetworkClient

// Uploads a reading every second, whatever becomes of the network: `SteadyUpload URL COUNT`.

struct Reading: Codable, Sendable {
    var number: Int
    var value: Double
}

let arguments = CommandLine.arguments.dropFirst()
let count = arguments.dropFirst().first.flatMap { Int($0) } ?? .max
let run = UInt32.random(in: 0 ... .max)

let session = try HTTPSession(
    baseURL: arguments.first ?? "https://api.example.com/v1",
    configuration: .init(gate: .waitsForConnectivity(.seconds(3600)), retry: .init(maximumAttempts: 10))
)

/// Uploads one reading, with a key by which the server tells a reading that comes twice from two readings.
@Sendable func upload(_ reading: Reading) async {
    let options = RequestOptions(idempotencyKey: .custom("\(run)-\(reading.number)"))
    do {
        _ = try await session.post("readings", body: .json(reading), options: options).bytes()
        print("uploaded", reading.number)
    } catch {
        print("lost", reading.number, error)
    }
}

await withDiscardingTaskGroup { uploads in
    for number in 0..<count {
        let reading = Reading(number: number, value: .random(in: 20...21))
        print("read", number)
        uploads.addTask { await upload(reading) }
        try? await Task.sleep(for: .seconds(1))
    }
}
