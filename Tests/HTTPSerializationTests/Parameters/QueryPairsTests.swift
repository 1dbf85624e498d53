import Testing

@testable import HTTPSerialization

/// Tests of parameters as a query: nested names, their order, and escaping.
struct QueryPairsTests {
    static let queries: [(Parameters, String)] = [
        (["b": 1, "a": 2], "a=2&b=1"),
        (["a": ["x", "y"]], "a%5B%5D=x&a%5B%5D=y"),
        (["a": Set(["y", "x", "x"])], "a=x&a=y"),
        (["a": ["d": 1, "c": ["b": 2]] as JSONValue], "a%5Bc%5D%5Bb%5D=2&a%5Bd%5D=1"),
        (["a": [["b": 1], ["b": 2]]], "a%5B%5D%5Bb%5D=1&a%5B%5D%5Bb%5D=2"),
        (["a": JSONValue.null, "b": ""], "a&b="),
        (["a": [Int](), "b": Set<String>(), "c": [String: Int]()], ""),
        ([:], ""),
        (["yes": true, "no": false, "f": 1.5, "whole": 2.0, "n": -7], "f=1.5&n=-7&no=false&whole=2&yes=true"),
        (["a": [Int?.none]], "a%5B%5D"),
        // AFNetworking's own vectors.
        (["key": "value"], "key=value"),
        (["key": "value", "key1": "value&"], "key=value&key1=value%26"),
        (["key": " :#[]@!$&'()*+,;=/?"], "key=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"),
        (
            ["key": "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F"],
            "key=%2520%2521%2522%2523%2524%2525%2526%2527%2528%2529%252A%252B%252C%252F"
        ),
    ]

    @Test(arguments: queries)
    func `nested values have sorted names`(parameters: Parameters, expected: String) throws {
        #expect(try QueryPairs(parameters, .init()).text == expected)
    }

    @Test(arguments: [
        ("-._~/?", "-._~/?"), ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("[x]", "%5Bx%5D"),
        ("#", "%23"), ("%", "%25"), ("ü", "%C3%BC"), ("👩‍👩‍👧", "%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
        ("\r\n\0", "%0D%0A%00"), (":@!$'()*,;", "%3A%40%21%24%27%28%29%2A%2C%3B"),
    ])
    func `names and values are escaped by RFC 3986`(text: String, expected: String) {
        #expect(QueryEscaping.escape(text.utf8) == expected)
    }

    static let characterSets: [(String, String, String)] = [
        ("utf-8", "é", "%C3%A9"), ("UTF8", "é", "%C3%A9"), ("iso-8859-1", "é", "%E9"), ("ISO-8859-15", "€", "%A4"),
        ("windows-1251", "Привет", "%CF%F0%E8%E2%E5%F2"), ("shift_jis", "表", "%95%5C"), ("gbk", "中", "%D6%D0"),
        ("utf-16le", "a", "a%00"), ("iso-2022-jp", "日", "%1B%24BF%7C%1B%28B"), ("us-ascii", "a b", "a%20b"),
    ]

    @Test(arguments: characterSets)
    func `names and values are escaped by their bytes in the character set`(
        set: String,
        text: String,
        expected: String
    ) throws {
        let options = ParameterOptions(characterSet: set)
        #expect(try QueryPairs([text: text], options).text == "\(expected)=\(expected)")
        let parts = try Parameters(["a": text]).multipartParts(options)
        guard case .bytes(let bytes) = parts.first?.content else {
            Issue.record("the part has no bytes")
            return
        }
        #expect(QueryEscaping.escape(bytes) == expected)
    }

    @Test(arguments: [
        ("iso-8859-1", "the character set 'iso-8859-1' has no '€'"),
        ("no-such-set", "the character set 'no-such-set' is unknown"), ("", "the character set '' is unknown"),
        ("ascii//TRANSLIT", "the character set 'ascii//translit' is unknown"),
    ])
    func `what a character set does not have is an error`(set: String, reason: String) {
        let error = #expect(throws: RequestSerializationError.self) {
            try QueryPairs(["a": "5 €"], .init(characterSet: set)).text
        }
        #expect(error?.description.hasPrefix("the parameters can't be encoded: \(reason)") == true)
        #expect(error?.description.hasSuffix("use utf-8") == true)
    }

    @Test func `equal parameters always produce the same text`() throws {
        let values = Set((0..<100).map { [String($0), "x"] })
        let texts = try [values, Set(values.reversed())].map { try QueryPairs(["a": $0], .init()).text }
        #expect(texts[0] == texts[1])
    }
}
