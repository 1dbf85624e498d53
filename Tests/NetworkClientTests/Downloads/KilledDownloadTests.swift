import Glibc
import HTTPLab
import Locking
import NetworkClient
import NetworkLab
import Testing

/// Processes that are killed while they download.
@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)), .timeLimit(.minutes(10)))
struct KilledDownloadTests {
    @Test(arguments: [1, 2] as [UInt64])
    func `a process is killed again and again, and the file is one version whole`(seed: UInt64) async throws {
        let (lab, nginx) = (try DownloadLab(), try Nginx())
        var random = SeededGenerator(seed: seed)
        var versions = [DownloadLab.entity(24 << 20)]
        try nginx.files.write("large", versions[0])
        var partsLeft = 0
        for turn in 0..<6 {
            let port = nginx.port
            let path = lab.path
            let bytes = Int.random(in: 0...(6 << 20), using: &random)
            let delay = UInt32.random(in: 0...3_000, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [port = port as UInt16, path = path as String, bytes = bytes as Int, delay = delay as UInt32] in
                let killer = Killer(after: bytes, delay: delay)
                let session = try HTTPSession(
                    baseURL: "http://127.0.0.1:\(port)/",
                    configuration: .init(timeouts: .lasting, eventMonitors: [killer])
                )
                _ = try await session.download("large", to: path).response()
                kill(getpid(), SIGKILL)
            }
            if access(lab.part, F_OK) == 0 { partsLeft += 1 }
            guard turn == 2 else { continue }
            versions.append(DownloadLab.entity((24 << 20) + 7, seed: seed + 1))
            try nginx.files.write("large", versions[1])
        }
        // Each kill except for a late one does.
        #expect(partsLeft > 0)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(nginx.port)/", configuration: .lasting)
        _ = try await session.download("large", to: lab.path).response()
        #expect(lab.file == versions[1])
        #expect(lab.names == ["file"])
    }
}

/// Kills its own process some time after a number of bytes.
private final class Killer: EventMonitor {
    private let limit: Int
    private let delay: UInt32
    private let first = Lock<Int?>(nil)

    init(after limit: Int, delay: UInt32) {
        self.limit = limit
        self.delay = delay
    }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        guard case .received(let bytes, _) = event else { return }
        let start = first.withLock { first in
            first = first ?? bytes
            return first ?? bytes
        }
        guard bytes - start >= limit else { return }
        // The loop and the writer continue meanwhile.
        let delay = delay
        _ = try? LabThread {
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
    }
}
