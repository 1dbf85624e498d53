import Glibc
import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// Tests in their own processes, without interference from other tests.
@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)), .timeLimit(.minutes(10)))
struct MemoryTests {
    @Test func `many requests leak no memory and no descriptors`() async {
        await #expect(processExitsWith: .success) {
            let nginx = try Endurance.nginx()
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(nginx.port)/", configuration: .lasting)
            try await exchange(Endurance.requests / 2, with: session)
            let before = try Usage()
            try await exchange(Endurance.requests, with: session)
            let after = try Usage()
            #expect(after.descriptors == before.descriptors)
            // A leak per request would be hundreds of bytes.
            let growth = after.heap - before.heap
            #expect(
                growth < 131_072 + Endurance.requests,
                "\(growth) bytes more after \(Endurance.requests) requests"
            )
            session.invalidate()
        }
    }

    @Test func `too many descriptors are an error, and the session serves when there are some again`() async {
        await #expect(processExitsWith: .success) {
            let nginx = try Endurance.nginx()
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(nginx.port)/", configuration: .lasting)
            // Everything that is opened once is open now.
            _ = try await session.get("small.txt", headers: [.connection: "close"]).response()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = rlimit(rlim_cur: 3, rlim_max: limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            for url in ["http://127.0.0.1:\(nginx.port)/", "http://localhost:\(nginx.port)/"] {
                let error = await #expect(throws: HTTPError.self) { try await session.get(url).response() }
                #expect(error?.code == .tooManyDescriptors)
                #expect(error?.processing == .neverSent)
                #expect(error?.errno == EMFILE)
            }
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(try await session.get("small.txt").response().status == 200)
        }
    }
}

/// Makes a number of requests, 16 at a time.
private func exchange(_ count: Int, with session: HTTPSession) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<16 {
            group.addTask {
                for number in 0..<count / 16 {
                    let request =
                        (number + worker).isMultiple(of: 4)
                        ? session.post("accept", parameters: ["number": number])
                        : session.get("small.txt", parameters: ["number": number])
                    let status = try await request.response().status
                    #expect(status == 200)
                }
            }
        }
        try await group.waitForAll()
    }
}

/// The resource usage of the process.
private struct Usage {
    let heap: Int
    let descriptors: Int

    init() throws {
        heap = LabHeap.bytesInUse
        guard let folder = opendir("/proc/self/fd") else { throw LabError("open /proc/self/fd", errno: errno) }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        descriptors = count
    }
}
