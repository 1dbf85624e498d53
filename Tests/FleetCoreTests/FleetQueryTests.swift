import FleetCore
import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct FleetQueryTests {
    private func node(_ change: (inout NodeStatus) -> Void = { _ in }) throws -> NodeStatus {
        var story = FleetStory()
        story.receive(.birth(labels: ["site": "Basel 1"]), at: 0)
        story.receive(.state(.init(1, 1, .wifi, at: -3_600)), at: 0)
        var node = try story.node()
        change(&node)
        return node
    }

    @Test(arguments: [
        ("group=g", true), ("group!=g", false), ("node = n", true), ("link=online", true), ("state=wifi", true),
        ("state!=notReachable and link=online", true), ("state=wifi and link=silent", false), ("why=none", true),
        ("path=wlan0", true), ("label.site=\"Basel 1\"", true), ("label.site=Basel", false), ("label.rack=\"\"", true),
        ("availability=100", true), ("availability<99.99", false), ("availability>=99.9%", true), ("outages<1", true),
        ("outages>0", false), ("backlog<=0", true), ("flapping=no", true), ("lost!=0", false), ("  lost =0  ", true),
        ("validation=none", true), ("validation!=portal", true),
    ]) func `conditions`(text: String, matches: Bool) throws {
        #expect(try FleetFilter(parsing: text).matches(node()) == matches)
    }

    @Test(arguments: [
        (ValidationVerdict.validated, "validated"), (.portal(.init(loginURL: "http://h.example/")), "portal"),
        (.noInternet(.refused), "noInternet"), (.notChecked, "notChecked"),
    ]) func `machines are chosen by the verdict on their path, as long as they are connected`(
        verdict: ValidationVerdict,
        name: String
    ) throws {
        let filter = try FleetFilter(parsing: "validation=\(name)")
        #expect(try filter.matches(node { $0.validation = .init(verdict: verdict) }))
        #expect(try !filter.matches(node()))
        let silent = try node { ($0.validation, $0.presence) = (.init(verdict: verdict), .silent) }
        #expect(try !filter.matches(silent) && FleetFilter(parsing: "validation=none").matches(silent))
    }

    @Test func `an availability that is not known meets only inequality`() throws {
        let unknown = try node { $0.availability = nil }
        for (text, matches) in [("availability<100", false), ("availability>=0", false), ("availability!=100", true)] {
            #expect(try FleetFilter(parsing: text).matches(unknown) == matches)
        }
    }

    @Test func `several filters have to be met`() throws {
        var filter = try FleetFilter(parsing: "group=g")
        filter.add(try .init(parsing: "state=cellular"))
        #expect(try !filter.matches(node()) && filter.matches(node { $0.state = .cellular }))
        #expect(try FleetFilter.all.matches(node()))
    }

    @Test(arguments: [
        ("grp=a", 0, "there is no field 'grp'"), ("group=a or node=b", 8, "only 'and' can join conditions"),
        ("group=a and", 11, "a field is missing"), ("", 0, "a field is missing"),
        ("group", 5, "a comparison is missing"), ("group<a", 5, "'group' is no number: use = or !="),
        ("group=", 6, "a value is missing"), ("group==a", 6, "a value is missing"),
        ("outages>many", 8, "'outages' is a whole number"), ("availability<99.999", 13, "'availability' is per cent"),
        ("availability<101", 13, "'availability' is per cent"), ("state=up", 6, "'state' is one of wifi, cellular"),
        ("validation=yes", 11, "'validation' is one of validated, portal, noInternet, notChecked, none"),
        ("label.site=\"a", 11, "the quotation mark is not closed"), ("label.=a", 0, "there is no field 'label.'"),
        ("outages>99999999999999999999999", 8, "'outages' is a whole number"),
    ]) func `an error points at the character`(text: String, offset: Int, problem: String) throws {
        let error = #expect(throws: FleetFilterError.self) { try FleetFilter(parsing: text) }
        #expect(error?.offset == offset && error?.problem.hasPrefix(problem) == true, "\(String(describing: error))")
    }

    @Test func `the error shows the text and a caret, also behind wide characters`() throws {
        let error = #expect(throws: FleetFilterError.self) { try FleetFilter(parsing: "group=東 und") }
        #expect(error?.description == "only 'and' can join conditions\n  group=東 und\n           ^")
    }

    @Test func `groupings are read`() {
        #expect(FleetGrouping(parsing: "label.site") == .label("site") && FleetGrouping(parsing: "why") == .why)
        #expect(FleetGrouping(parsing: "label.") == nil && FleetGrouping(parsing: "node") == nil)
    }

    @Test func `an inventory has machines and labels`() throws {
        let inventory = try FleetInventory(
            parsing: "# all\nsite-3/pump-7 site=\"Basel 1\" rack=2 # new\n\n  gateway\r\na/b#c\n"
        )
        #expect(inventory.entries.map(\.key.description) == ["site-3/pump-7", "default/gateway", "a/b#c"])
        #expect(inventory.entries[0].labels == ["site": "Basel 1", "rack": "2"])
    }

    @Test(arguments: [
        ("a/b\na/b", "line 2: 'a/b' is in line 1 already"), ("a/b/c", "line 1: 'a/b/c' is not GROUP/NODE or NODE"),
        ("\na site", "line 2: 'site' is not a label, NAME=VALUE"), ("/a", "line 1: '/a' is not GROUP/NODE or NODE"),
        ("a x=\"b", "line 1: a quotation mark is not closed"),
    ]) func `a bad inventory is refused with the line`(text: String, description: String) {
        let error = #expect(throws: FleetInventoryError.self) { try FleetInventory(parsing: text) }
        #expect(error?.description == description)
    }
}
