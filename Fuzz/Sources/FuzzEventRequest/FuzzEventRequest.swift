import EventCore
import FuzzSupport

/// Any bytes as the head of a request to the event service: what is taken must be plain, and what is refused must say why in
/// a line that can be sent.
@main
enum FuzzEventRequest {
    static func main() {
        Fuzzer.run { start, count in
            FuzzEventRequest.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    private static let rules = AccessRules(port: 8787, origins: ["http://localhost:3000"])

    private static func run(_ bytes: [UInt8]) {
        do throws(RequestRefusal) {
            let head = try RequestHead(parsing: bytes)
            check(head)
            checkAccess(head)
            check(try EventRequest(head))
        } catch {
            Fuzzer.expect(!error.message.isEmpty, "no message")
            Fuzzer.expect(RequestRefusal.phrase(of: error.status) != "Error", "\(error.status) has no phrase")
        }
    }

    /// Nothing that was taken can be read as two requests, or as two lines of a response.
    private static func check(_ head: RequestHead) {
        Fuzzer.expect(head.target.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(head.target)")
        Fuzzer.expect(head.values("transfer-encoding").isEmpty, "a body was taken")
        for name in ["host", "origin", "last-event-id", "if-none-match"] {
            for value in head.values(name) {
                Fuzzer.expect(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }, "\(name): \(value)")
            }
        }
    }

    private static func checkAccess(_ head: RequestHead) {
        do throws(RequestRefusal) {
            // Without a foreign origin, it is the service's own, or there is none.
            let origin = try rules.check(head)
            Fuzzer.expect(origin == nil || origin == "http://localhost:3000", "the foreign origin \(origin ?? "")")
        } catch {
            return Fuzzer.expect([400, 403, 421].contains(error.status), "\(error)")
        }
        let host = head.values("host").first?.lowercased() ?? ""
        Fuzzer.expect(["localhost:8787", "127.0.0.1:8787", "[::1]:8787"].contains(host), "the host \(host)")
    }

    private static func check(_ request: EventRequest) {
        switch request.resource {
        case .state(let id, let timeout):
            if let id { check(id) }
            Fuzzer.expect(timeout >= .zero && timeout <= EventRequest.maximumTimeout, "a wait of \(timeout)")
        case .events(.after(let id?), _): check(id)
        case .history(let age): Fuzzer.expect(age >= .zero && age <= EventRequest.maximumAge, "an age of \(age)")
        case .events, .path, .page, .metrics: break
        }
    }

    private static func check(_ id: EventID) {
        Fuzzer.expect((try? EventID(parsing: id.description)) == id, "\(id) is read otherwise than it was written")
    }
}
