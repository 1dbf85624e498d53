import FleetCore
import Testing

@testable import netwatch_forward

@Suite struct ClientIdentifierTests {
    @Test func `machines of one name in two groups have different client identifiers`() {
        let (first, second) = (FleetNode(group: "a", name: "x"), FleetNode(group: "b", name: "x"))
        #expect(first.clientID != second.clientID)
        #expect(first.clientID == FleetNode(group: "a", name: "x").clientID)
        #expect(FleetNode(group: "a", name: "b-x").clientID != FleetNode(group: "a-b", name: "x").clientID)
    }

    @Test func `machines of one name under two prefixes have different client identifiers`() {
        let prefixes = ["netwatch", "site/a", "site/b", "default"]
        for group in ["default", "plant"] {
            let identifiers = prefixes.map { FleetNode(prefix: $0, group: group, name: "x").clientID }
            #expect(Set(identifiers).count == prefixes.count, "\(identifiers)")
        }
    }

    @Test func `a client identifier has the 23 characters that every broker takes, whatever group and name are`() {
        for name in ["x", String(repeating: "long", count: 32)] {
            let identifier = FleetNode(group: name, name: name).clientID
            #expect(identifier.hasPrefix("nw-") && identifier.utf8.count == 23)
        }
    }

    @Test func `the client identifier in the default group has the name`() {
        #expect(FleetNode(name: "pump-7").clientID == "nw-pump-7")
    }
}
