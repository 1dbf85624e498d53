import ClientRun
import Glibc
import NetworkClient

let run = ClientRun()
let slash = run.url.lastIndex(of: "/") ?? run.url.endIndex
// The certificate to trust, for a URL with https.
let root = getenv("NETWATCH_BENCH_ROOT").map { String(cString: $0) }
let session = try HTTPSession(
    baseURL: String(run.url[...slash]),
    configuration: .init(
        tls: try root.map { TLSOptions(roots: try .only(file: $0)) } ?? .init(),
        maximumConnectionsPerHost: run.inFlight
    )
)
let reference = String(run.url[slash...].dropFirst())
try await run.run { try await session.get(reference).response().buffer.readableBytes }
