import Glibc
import NetworkLab
import Synchronization
import Testing

/// A continuation that is resumed before its task sleeps: what the task then has, it has from the other thread.
///
/// The thread sanitizer takes its use for a race where that is unknown to it.
@Suite("Continuations", .enabled(if: LabSanitizer.isThread, "it is the thread sanitizer that finds a race"))
struct ContinuationTests {
    private final class Parcel: Sendable, Error {
        let number: Int

        init(_ number: Int) { self.number = number }
    }

    @Test("A task has a value from the thread that resumed it before it slept")
    func value() async throws {
        let received = await withUnsafeContinuation { continuation in
            runOnThread { continuation.resume(returning: Parcel(7)) }
        }
        #expect(received.number == 7)
    }

    @Test("A task has an error from the thread that resumed it before it slept")
    func error() async throws {
        let received = await #expect(throws: Parcel.self) {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                runOnThread { continuation.resume(throwing: Parcel(7)) }
            }
        }
        #expect(received?.number == 7)
    }

    /// Returns after the thread has run the closure, without anything by which the sanitizer would know that.
    private func runOnThread(_ body: @escaping @Sendable () -> Void) {
        let hasRun = Flag()
        #expect(throws: Never.self) {
            try LabThread {
                body()
                hasRun.value.store(true, ordering: .relaxed)
            }
        }
        while !hasRun.value.load(ordering: .relaxed) { usleep(1_000) }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}
