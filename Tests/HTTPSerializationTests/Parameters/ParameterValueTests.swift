import FoundationEssentials
import HTTPSerialization
import Testing

/// Tests of parameters from literals, from encodable values, and from JSON.
struct ParameterValueTests {
    private struct Report: Encodable {
        var name = "kiosk"
        var count = 3
        var ratio = 0.5
        var tags = ["a", "b"]
        var note: String?
        var nested = ["open": true]
    }

    @Test func `anything encodable becomes parameters`() throws {
        let expected: ParameterValue = [
            "name": "kiosk", "count": 3, "ratio": 0.5, "tags": ["a", "b"], "nested": ["open": true],
        ]
        #expect(try ParameterValue(encoding: Report()) == expected)
        #expect(try ParameterValue(encoding: 7) == 7)
        #expect(try ParameterValue(encoding: [String]()) == [])
    }

    @Test func `what an encoding throws is thrown`() {
        #expect(throws: (any Error).self) { try ParameterValue(encoding: Double.nan) }
    }

    @Test func `JSON and back`() throws {
        let text = #"{"a":[1,2.5,"x",null,true,{}],"b":{"c":-9223372036854775808}}"#
        let value = try JSONDecoder().decode(ParameterValue.self, from: Data(text.utf8))
        #expect(value == ["a": [1, 2.5, "x", nil, true, [:]], "b": ["c": .integer(.min)]])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try String(decoding: encoder.encode(value), as: UTF8.self) == text)
    }

    @Test func `nulls are taken out at any depth`() {
        let value: ParameterValue = ["a": nil, "b": [nil, ["c": nil, "d": 1]], "e": .set([nil, 1])]
        #expect(value.withoutNulls == ["b": [["d": 1]], "e": .set([1])])
    }

    @Test func `of a key that is written twice the later counts`() {
        let value: ParameterValue = ["a": 1, "a": 2]
        #expect(value == .dictionary(["a": 2]))
    }
}
