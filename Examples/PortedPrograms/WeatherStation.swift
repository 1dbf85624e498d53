import NetworkClient
import Reachability

/// Reads stations from a server, and sends readings and pictures to it.
struct WeatherClient {
    let session: HTTPSession

    init(server: String, token: String) throws {
        var configuration = HTTPConfiguration(headers: [.authorization: "Bearer \(token)"])
        configuration.timeouts.read = .seconds(30)
        configuration.maximumConnectionsPerHost = 2
        configuration.responseSerializer = .init(expectation: .jsonOrText, removesNulls: true)
        session = try HTTPSession(baseURL: server, configuration: configuration)
    }

    func stations(near place: String, limit: Int) async throws -> [String] {
        let parameters: Parameters = ["near": place, "limit": limit, "kinds": ["rain", "wind"]]
        let reply = try await session.get("stations", parameters: parameters).json()
        return reply["stations"]?.array?.compactMap { $0["name"]?.string } ?? []
    }

    func report(millimetres: Double, at station: String) async throws {
        let parameters: Parameters = ["station": station, "rain": millimetres]
        do {
            _ = try await session.post("readings", parameters: parameters).json()
        } catch {
            throw Refusal(error) ?? error
        }
    }

    func send(picture path: String, of station: String) async throws -> Int? {
        let picture = MultipartPart.file(path, name: "picture", contentType: "image/png")
        let request = session.post("pictures", parameters: ["station": station], body: .multipart([picture]))
        for await step in request.progress { print("sent \(step.sent) of \(step.toSend ?? 0) bytes") }
        return try await request.json()["id"]?.int
    }

    func archive(of year: Int, to path: String) async throws -> String? {
        try await session.download("archive/\(year).csv", to: path).response().file.path
    }

    /// The explanation in the body of a response that was refused.
    struct Refusal: Error {
        let reason: String

        init?(_ error: any Error) {
            guard let body = (error as? HTTPError)?.body, let value = try? JSONValue(parsing: body),
                let reason = value["reason"]?.string
            else { return nil }
            self.reason = reason
        }
    }
}

func runWeatherStation(server: String, picture: String, archive: String) async throws {
    let client = try WeatherClient(server: server, token: "secret")
    let monitor = ReachabilityMonitor.shared
    let subscription = monitor.subscribe { change in print("network:", change.status.name) }
    defer { subscription.cancel() }

    for name in try await client.stations(near: "Zürich", limit: 2) { print("station", name) }
    do {
        try await client.report(millimetres: -1, at: "Zürich")
    } catch let refusal as WeatherClient.Refusal {
        print("refused:", refusal.reason)
    }
    print("picture", try await client.send(picture: picture, of: "Zürich") ?? 0)
    print("archive", try await client.archive(of: 2025, to: archive) ?? "missing")
    client.session.invalidate(.finishingRequests)
}
