import Glibc
import LinuxSystem
import NetworkLab
import ReachabilityCore
import Testing

@Suite(.timeLimit(.minutes(10))) struct AddressLookupTests {
    @Test func `a numeric address has its zone`() throws {
        let address = ResolvedAddress(try #require(IPAddress("fe80::1")), scope: if_nametoindex("lo"))
        #expect(AddressLookup.addresses(of: "fe80::1%lo", isNumeric: true) == .addresses([address]))
    }

    @Test func `a name is no numeric address`() {
        #expect(AddressLookup.addresses(of: "localhost", isNumeric: true) == .failure(code: EAI_NONAME, errno: 0))
    }

    @Test func `an address has the name that the hosts file gives it, or none`() throws {
        #expect(AddressLookup.name(of: .init(try #require(IPAddress("127.0.0.1")))) == "localhost")
        // In the tests' own namespace no name server can be asked.
        #expect(AddressLookup.name(of: .init(try #require(IPAddress("192.0.2.77")))) == nil)
    }

    @Test func `a lookup in a namespace is made by a separate thread`() throws {
        let lab = try LabNamespace()
        let found = BlockingPromise<Result<AddressLookup.Outcome, SystemError>>()
        try AddressLookup.start("localhost", in: .init(path: lab.path)) { found.fulfill($0) }
        guard case .success(.addresses(let addresses)) = found.wait() else {
            Issue.record("localhost isn't resolved")
            return
        }
        #expect(addresses.contains { $0.address.isLoopback })
    }

    @Test(arguments: [("/no/such/file", ENOENT), ("/dev/null", EINVAL), ("/proc/self/ns/uts", EINVAL)])
    func `a lookup fails if the file is no network namespace`(path: String, errno: Int32) throws {
        let found = BlockingPromise<Result<AddressLookup.Outcome, SystemError>>()
        try AddressLookup.start("localhost", in: .init(path: path)) { found.fulfill($0) }
        guard case .failure(let error) = found.wait() else {
            Issue.record("a file that is no namespace was entered")
            return
        }
        #expect(error.code == errno)
    }
}
