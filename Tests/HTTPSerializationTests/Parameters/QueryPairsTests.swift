import Testing

@testable import HTTPSerialization

/// Tests of parameters as a query: nested names, their order, and escaping.
struct QueryPairsTests {
    @Test(
        arguments: [
            (["b": 1, "a": 2], "a=2&b=1"),
            (["a": ["x", "y"]], "a%5B%5D=x&a%5B%5D=y"),
            (["a": .set(["y", "x", "x"])], "a=x&a=y"),
            (["a": ["d": 1, "c": ["b": 2]]], "a%5Bc%5D%5Bb%5D=2&a%5Bd%5D=1"),
            (["a": [["b": 1], ["b": 2]]], "a%5B%5D%5Bb%5D=1&a%5B%5D%5Bb%5D=2"),
            (["a": nil, "b": ""], "a&b="),
            (["a": [], "b": .set([]), "c": [:]], ""),
            ([:], ""),
            (["yes": true, "no": false, "f": 1.5, "whole": 2.0, "n": -7], "f=1.5&n=-7&no=false&whole=2&yes=true"),
            (["a": [nil]], "a%5B%5D"),
        ] as [(ParameterValue, String)]
    )
    func `nested values have sorted names`(parameters: ParameterValue, expected: String) {
        #expect(QueryPairs(parameters).text == expected)
    }

    @Test(arguments: [
        ("-._~/?", "-._~/?"), ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("[x]", "%5Bx%5D"),
        ("#", "%23"), ("%", "%25"), ("ü", "%C3%BC"), ("👩‍👩‍👧", "%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
        ("\r\n\0", "%0D%0A%00"), (":@!$'()*,;", "%3A%40%21%24%27%28%29%2A%2C%3B"),
    ])
    func `names and values are escaped by RFC 3986`(text: String, expected: String) {
        #expect(QueryEscaping.escape(text) == expected)
    }

    @Test func `equal parameters always produce the same text`() {
        let values = Set((0..<100).map { ParameterValue.array([.integer($0), .string("x")]) })
        #expect(QueryPairs(["a": .set(values)]).text == QueryPairs(["a": .set(Set(values.reversed()))]).text)
    }
}
