import AsyncHTTPClient
import ClientRun
import Glibc
import NIOSSL

let run = ClientRun()
var configuration = HTTPClient.Configuration()
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = run.inFlight
// The certificate to trust, for a URL with https.
if let root = getenv("NETWATCH_BENCH_ROOT") {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(String(cString: root))
    configuration.tlsConfiguration = tls
}
let client = HTTPClient(configuration: configuration)
try await run.run {
    let response = try await client.execute(HTTPClientRequest(url: run.url), timeout: .seconds(30))
    return try await response.body.collect(upTo: 1 << 20).readableBytes
}
try await client.shutdown().get()
