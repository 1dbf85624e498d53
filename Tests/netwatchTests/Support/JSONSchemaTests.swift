import CommandLineLab
import Testing

/// Tests of the tests' own validator.
@Suite struct JSONSchemaTests {
    private static let line = #"""
        {"v":1,"seq":3,"time":"2026-11-20T20:00:00.123456Z","event":"change","status":"wifi",\#
        "previous":null,"path":{"interface":{"index":4,"name":"wlan0","kind":"wifi"},"carriers":[],\#
        "ipv4":{"interface":"wlan0","kind":"wifi","carriers":[],"gateway":null,"source":"192.0.2.2","metric":600},"ipv6":null,"expensive":false,"constrained":false},"reasons":[]}
        """#

    @Test(arguments: [
        ("\"v\":1", "\"v\":2"), ("\"v\":1", "\"v\":1,\"w\":1"), ("\"seq\":3", "\"seq\":0"),
        ("\"seq\":3", "\"seq\":3.5"),
        ("\"seq\":3,", ""), ("123456Z", "123Z"), ("20:00:00", "24:00:00"), ("11-20", "13-20"), ("11-20", "02-29"),
        ("\"change\"", "\"changed\""), ("\"wifi\",", "\"wired\","), ("null,\"path\"", "1,\"path\""),
        ("\"index\":4", "\"index\":\"4\""), ("\"index\":4", "\"index\":-1"), ("\"carriers\":[]", "\"carriers\":{}"),
        ("192.0.2.2", "192.0.2"), ("\"metric\":600", "\"metric\":4294967296"),
        ("\"kind\":\"wifi\"", "\"kind\":\"lte\""),
        ("\"gateway\":null", "\"gateway\":\"fe80::1%eth0\""), ("\"reasons\":[]", "\"reasons\":[\"because\"]"),
        ("\"reasons\":[]", "\"reasons\":[\"link.up\",\"link.up\"]"), ("\"ipv6\":null", "\"ipv6\":{}"),
    ])
    func `a fault is found`(part: String, wrong: String) throws {
        let schema = try EventSchema.schema.get()
        #expect(try schema.faults(in: JSONParser.parse(Self.line)).isEmpty)
        let pieces = Self.line.split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
        let changed = try JSONParser.parse(pieces.joined(separator: wrong))
        #expect(try !schema.faults(in: changed).isEmpty)
    }

    @Test func `an unknown keyword is an error`() throws {
        for text in [#"{"oneOf":[]}"#, #"{"format":"uri"}"#, #"{"type":"text"}"#, ##"{"$ref":"#/x"}"##] {
            let schema = JSONSchema(root: try JSONParser.parse(text))
            #expect(throws: SchemaError.self) { try schema.faults(in: .string("")) }
        }
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "+1", "nul", "\"a", "\"\t\"", "\"\\x\"", "{\"a\":1,\"a\":2}", "1 2",
        "{a:1}", "'a'", "[1 2]", "\"\\ud83d\"",
    ])
    func `text that is not JSON is refused`(text: String) {
        #expect(throws: JSONParseError.self) { try JSONParser.parse(text) }
    }

    @Test func `JSON is parsed`() throws {
        let text = #" { "a" : [ 1 , -2.5e1 , true , false , null ] , "\u00fc" : "\"\\\/\b\f\n\r\t" , "o" : { } } "#
        let expected: [String: JSONValue] = [
            "a": .array([.number(1), .number(-25), .bool(true), .bool(false), .null]),
            "ü": .string("\"\\/\u{8}\u{C}\n\r\t"), "o": .object([:]),
        ]
        #expect(try JSONParser.parse(text) == .object(expected))
    }
}
