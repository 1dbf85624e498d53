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

    @Test func `any encodable value becomes parameters`() throws {
        let expected: ParameterValue = [
            "name": "kiosk", "count": 3, "ratio": 0.5, "tags": ["a", "b"], "nested": ["open": true],
        ]
        #expect(try ParameterValue(encoding: Report()) == expected)
        #expect(try ParameterValue(encoding: 7) == 7)
        #expect(try ParameterValue(encoding: [String]()) == [])
    }

    @Test func `an error of the encoding is rethrown`() {
        #expect(throws: (any Error).self) { try ParameterValue(encoding: Double.nan) }
    }

    @Test func `parameters survive a round trip through JSON`() throws {
        let text = #"{"a":[1,2.5,"x",null,true,{}],"b":{"c":-9223372036854775808}}"#
        let value = try JSONDecoder().decode(ParameterValue.self, from: Data(text.utf8))
        #expect(value == ["a": [1, 2.5, "x", nil, true, [:]], "b": ["c": .integer(.min)]])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try String(decoding: encoder.encode(value), as: UTF8.self) == text)
    }

    @Test func `nulls are removed at any depth`() {
        let value: ParameterValue = ["a": nil, "b": [nil, ["c": nil, "d": 1]], "e": .set([nil, 1])]
        #expect(value.withoutNulls == ["b": [["d": 1]], "e": .set([1])])
    }

    @Test func `the later value of a duplicate key is used`() {
        let value: ParameterValue = ["a": 1, "a": 2]
        #expect(value == .dictionary(["a": 2]))
    }
}
