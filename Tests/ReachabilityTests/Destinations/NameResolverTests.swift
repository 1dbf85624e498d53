import Glibc
import LinuxSystem
import Testing

@testable import Reachability

@Suite("NameResolver", .timeLimit(.minutes(10)))
struct NameResolverTests {
    private let loopback = IPAddress(ipv4: 0x7F00_0001)

    @Test("An address is returned unchanged, without the resolver", arguments: ["192.0.2.7", "2001:db8::7", "::"])
    func literals(_ text: String) async throws {
        let resolver = resolver { _ in .failure(code: EAI_FAIL, errno: 0) }
        let address = try #require(IPAddress(text))
        #expect(try await resolver.addresses(of: text, within: .zero) == [address])
    }

    @Test("A name resolves to the resolver's addresses, in their order")
    func names() async throws {
        let addresses = [IPAddress(ipv4: 2), IPAddress(ipv4: 1)]
        let resolver = resolver {
            $0 == "robot.example" ? .addresses(addresses.map { .init($0) }) : .failure(code: EAI_FAIL, errno: 0)
        }
        #expect(try await resolver.addresses(of: "robot.example", within: .seconds(120)) == addresses)
    }

    @Test("The system's resolver knows localhost, and each address is returned once")
    func localhost() async throws {
        let resolver = NameResolver(threads: ThreadPool())
        let addresses = try await resolver.addresses(of: "localhost", within: .seconds(120))
        #expect(addresses.contains(loopback) || addresses.contains { $0.isLoopback })
        #expect(Set(addresses).count == addresses.count)
    }

    @Test(
        "An impossible name is refused without the resolver",
        arguments: ["", " ", "a b", "fe80::1%eth0", "a\0b", "tab\t", String(repeating: "a", count: 255)]
    )
    func nonsense(_ text: String) async throws {
        let resolver = resolver { _ in .addresses([.init(loopback)]) }
        await #expect(throws: ReachabilityError(.invalidName, text)) {
            try await resolver.addresses(of: text, within: .seconds(120))
        }
    }

    @Test(
        "The resolver's codes become errors that say what to do",
        arguments: [
            (EAI_NONAME, .nameNotFound), (-5, .nameNotFound), (EAI_AGAIN, .nameServerUnavailable),
            (EAI_FAIL, .nameLookupFailed),
        ] as [(Int32, ReachabilityError.Code)]
    )
    func failures(_ failure: Int32, _ code: ReachabilityError.Code) async throws {
        let resolver = resolver { _ in .failure(code: failure, errno: 0) }
        let error = await #expect(throws: ReachabilityError.self) {
            try await resolver.addresses(of: "robot.example", within: .seconds(120))
        }
        #expect(error?.code == code)
        #expect(error?.description.contains("'robot.example'") == true)
    }

    @Test("A name without addresses is not found")
    func noAddresses() async throws {
        let resolver = resolver { _ in .addresses([]) }
        await #expect(throws: ReachabilityError(.nameNotFound, "robot.example")) {
            try await resolver.addresses(of: "robot.example", within: .seconds(120))
        }
    }

    @Test("A resolver that does not return is abandoned at the timeout")
    func timeout() async throws {
        let door = Gate()
        let resolver = resolver { _ in
            door.wait()
            return .addresses([.init(loopback)])
        }
        let expected = ReachabilityError(.nameLookupTimedOut, "robot.example", timeout: .milliseconds(1))
        await #expect(throws: expected) {
            try await resolver.addresses(of: "robot.example", within: .milliseconds(1))
        }
        door.open()
    }

    @Test("A cancelled task does not wait for the resolver")
    func cancellation() async throws {
        let door = Gate()
        let asked = Collector<String>()
        let resolver = resolver { name in
            asked.append(name)
            door.wait()
            return .addresses([.init(loopback)])
        }
        let task = Task { try await resolver.addresses(of: "robot.example", within: .seconds(120)) }
        try await asked.wait(count: 1)
        task.cancel()
        await #expect(throws: ReachabilityError.cancelled) { try await task.value }
        door.open()
    }

    private func resolver(_ lookup: @escaping @Sendable (String) -> AddressLookup.Outcome) -> NameResolver {
        .init(threads: ThreadPool(), lookup: lookup)
    }
}
