import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite(.timeLimit(.minutes(5))) struct ObservedTests {
    @Test func `a wait ends with the change that satisfies it`() async throws {
        let number = Observed(0)
        async let seen = number.wait(for: "2") { $0 == 2 }
        for _ in 1...2 { number.update { $0 += 1 } }
        #expect(try await seen == 2)
    }

    @Test func `a wait whose limit has passed before it is registered is an error`() async {
        let number = Observed(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    let error = await #expect(throws: LabError.self) {
                        try await number.wait(for: "1", within: .zero) { $0 == 1 }
                    }
                    #expect(error?.errno == ETIMEDOUT)
                }
            }
        }
    }
}
