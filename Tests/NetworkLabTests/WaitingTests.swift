import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("Waiting in the lab")
struct WaitingTests {
    @Test("A wait for an event times out with a description of the event")
    func eventTimeout() throws {
        let lab = try LabNamespace()
        let events = try LabEvents(in: lab)
        let error = #expect(throws: LabError.self) {
            try events.wait(for: "nothing", within: .milliseconds(1)) { _ in true }
        }
        #expect(error?.errno == ETIMEDOUT)
        #expect(error?.operation == "wait for nothing")
    }

    @Test("A change has been announced when it is acknowledged")
    func pending() throws {
        let lab = try LabNamespace()
        let events = try LabEvents(in: lab, [.ipv4Addresses])
        #expect(try events.pending().isEmpty)
        try lab.rtnl.addAddress("192.0.2.2/24", on: "lo")
        let seen = try events.pending()
        #expect(seen.count == 1)
        guard case .address(let address)? = seen.first else {
            Issue.record("no address in \(seen)")
            return
        }
        #expect(address.address == IPAddress("192.0.2.2"))
    }

    @Test("An inbox returns the values of other threads as soon as they suffice")
    func inbox() throws {
        let inbox = LabInbox<Int>()
        let thread = try LabThread { for number in 0..<100 { inbox.put(number) } }
        let seen = try inbox.wait(for: "fifty numbers") { $0.count >= 50 }
        #expect(Array(seen.prefix(50)) == Array(0..<50))
        thread.join()
        #expect(inbox.all == Array(0..<100))
        let error = #expect(throws: LabError.self) {
            try inbox.wait(for: "more", within: .milliseconds(1)) { $0.count > 100 }
        }
        #expect(error?.operation == "wait for more")
    }
}
