import ClientRun
import NetworkClient

let run = ClientRun()
let slash = run.url.lastIndex(of: "/") ?? run.url.endIndex
let session = try HTTPSession(
    baseURL: String(run.url[...slash]),
    configuration: .init(maximumConnectionsPerHost: run.inFlight)
)
let reference = String(run.url[slash...].dropFirst())
try await run.run { try await session.get(reference).response().buffer.readableBytes }
