import ClientRun
import Foundation
import FoundationNetworking

let run = ClientRun()
let configuration = URLSessionConfiguration.ephemeral
configuration.httpMaximumConnectionsPerHost = run.inFlight
configuration.urlCache = nil
let session = URLSession(configuration: configuration)
guard let url = URL(string: run.url) else { exit(64) }
try await run.run { try await session.data(from: url).0.count }
