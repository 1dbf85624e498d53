import CommandLineSupport
import NetworkClient
import Testing

@testable import netwatch_fetch

@Suite struct ParameterTests {
    private func parameters(_ texts: [String]) throws -> Parameters? {
        try ParameterTree.parameters(texts.map(ParameterArgument.parse))
    }

    private static let trees: [([String], Parameters)] = [
        (["q=swift"], ["q": "swift"]), (["q"], ["q": JSONValue.null]), (["q="], ["q": ""]),
        (["q=a=b[c]"], ["q": "a=b[c]"]),
        (["a[b]=c", "a[d][e]=f"], ["a": ["b": "c", "d": ["e": "f"]] as JSONValue]),
        (["a[]=2", "a[]=1"], ["a": ["2", "1"]]),
        (["a=1", "a=2"], ["a": Set(["1", "2"])]), (["a=1", "a=1"], ["a": Set(["1"])]),
        (["a[][x]=1", "a[][y]=2", "a[][x]=3"], ["a": [["x": "1", "y": "2"], ["x": "3"]]]),
        (["a[][x][]=1", "a[][x][]=2"], ["a": [["x": ["1", "2"]]]]), (["ä[ö]=ü"], ["ä": ["ö": "ü"]]),
        (["a[b c]=d"], ["a": ["b c": "d"]]),
    ]

    @Test(arguments: trees)
    func `values are put together by their names`(texts: [String], tree: Parameters) throws {
        #expect(try parameters(texts) == tree)
    }

    @Test func `no values are no parameters`() throws {
        #expect(try parameters([]) == nil)
    }

    @Test(arguments: [
        ("", "the name is missing"), ("=x", "the name is missing"), ("[a]=x", "the name is missing"),
        ("a[b=c", "'[' is not closed"), ("a[b]c=d", "'c=d' follows the name"), ("a]=b", "']=b' follows the name"),
        ("a[b[c]]=d", "'[' stands within brackets"),
        ("a" + String(repeating: "[b]", count: 32) + "=c", "deeper than 32"),
    ])
    func `a wrong name`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try ParameterArgument.parse(text) }
        #expect(error.description.contains(words))
    }

    @Test(arguments: [["a=1", "a[b]=2"], ["a[]=1", "a=2"], ["a[]=1", "a[b]=2"], ["a[b]=1", "a[b][c]=2"]])
    func `one name for two things`(texts: [String]) throws {
        let error = try #require(throws: ArgumentError.self) { try parameters(texts) }
        #expect(error.description.contains("name each thing once"))
    }
}
