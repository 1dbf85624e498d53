import AsyncHTTPClient
import ClientRun

let run = ClientRun()
var configuration = HTTPClient.Configuration()
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = run.inFlight
let client = HTTPClient(configuration: configuration)
try await run.run {
    let response = try await client.execute(HTTPClientRequest(url: run.url), timeout: .seconds(30))
    return try await response.body.collect(upTo: 1 << 20).readableBytes
}
try await client.shutdown().get()
