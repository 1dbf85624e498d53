import PathProbing
import Testing
import ValidationCore

struct PortalReplyTests {
    private static func decoded(_ text: String) throws(PortalReplyError) -> PortalReply {
        try .init(decoding: Array(text.utf8))
    }

    @Test func `the examples of RFC 8908 are decoded`() throws {
        let captive = try Self.decoded(
            #"{"captive": true, "user-portal-url": "https://example.org/portal.html"}"#
        )
        #expect(captive == .init(isCaptive: true, loginURL: "https://example.org/portal.html"))
        let open = try Self.decoded(
            """
            {
              "captive": false,
              "user-portal-url": "https://example.org/portal.html",
              "venue-info-url": "https://flight.example.com/entertainment",
              "seconds-remaining": 326,
              "can-extend-session": true
            }
            """
        )
        let expected = PortalReply(
            isCaptive: false,
            loginURL: "https://example.org/portal.html",
            venueURL: "https://flight.example.com/entertainment",
            isExtensible: true,
            secondsLeft: 326
        )
        #expect(open == expected)
    }

    @Test func `unknown members are ignored`() throws {
        #expect(try Self.decoded(#"{"captive":false,"x":[1,{}],"Captive":1}"#) == .init(isCaptive: false))
    }

    @Test(arguments: [
        ("", "it is no JSON text"), ("[]", "it is no JSON object"), ("true", "it is no JSON object"),
        ("{}", "'captive' is missing"),
        (#"{"captive":"true"}"#, "'captive' is neither true nor false"), (#"{"captive":null}"#, "'captive' is neither"),
        (#"{"captive":true,"user-portal-url":"http://a.example/"}"#, "'user-portal-url' is no https URL"),
        (#"{"captive":true,"user-portal-url":"javascript:alert(1)"}"#, "'user-portal-url' is no https URL"),
        (#"{"captive":true,"user-portal-url":7}"#, "'user-portal-url' is no https URL"),
        (#"{"captive":true,"venue-info-url":"/x"}"#, "'venue-info-url' is no https URL"),
        (#"{"captive":false,"seconds-remaining":-1}"#, "'seconds-remaining' is no whole number"),
        (#"{"captive":false,"seconds-remaining":1.5}"#, "'seconds-remaining' is no whole number"),
        (#"{"captive":false,"seconds-remaining":"9"}"#, "'seconds-remaining' is no whole number"),
        (#"{"captive":false,"bytes-remaining":9223372036854775808}"#, "'bytes-remaining' is no whole number"),
        (#"{"captive":false,"can-extend-session":0}"#, "'can-extend-session' is neither"),
    ])
    func `a reply that breaks the rules is refused with the member's name`(text: String, reason: String) {
        let error = #expect(throws: PortalReplyError.self) { try Self.decoded(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `the session counts from the reply, and only if the machine is not held back`() throws {
        let open = try Self.decoded(#"{"captive":false,"seconds-remaining":60,"bytes-remaining":1000}"#)
        #expect(open.session(at: .at(10)) == .init(end: .at(70), bytesLeft: 1000))
        #expect(try Self.decoded(#"{"captive":true,"seconds-remaining":60}"#).session(at: .at(10)) == nil)
        #expect(try Self.decoded(#"{"captive":false}"#).session(at: .at(10)) == nil)
    }

    @Test(arguments: [
        ("https://portal.example/api", true), ("HTTPS://portal.example", true), ("http://portal.example/api", false),
        ("urn:ietf:params:capport:unrestricted", false), ("https://", false), ("https://u:p@portal.example/", false),
        ("", false),
        ("https://portal.example/" + String(repeating: "a", count: 2025), true),
        ("https://portal.example/" + String(repeating: "a", count: 2026), false),
    ])
    func `only https URLs of a limited length are asked`(text: String, isUsable: Bool) {
        #expect(PortalURL.isUsable(text) == isUsable)
    }
}
