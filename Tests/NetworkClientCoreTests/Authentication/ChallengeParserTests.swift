import Testing

@testable import NetworkClientCore

struct ChallengeParserTests {
    private func read(_ values: String...) -> [String] {
        ChallengeParser.challenges(in: values).map { challenge in
            let parameters = challenge.parameters.map { "\($0.name)=<\($0.value)>" }
            return ([challenge.scheme] + (challenge.token68.map { ["[\($0)]"] } ?? []) + parameters)
                .joined(separator: " ")
        }
    }

    @Test
    func `one challenge is parsed with any allowed white space`() {
        #expect(read("Basic realm=\"WallyWorld\"") == ["basic realm=<WallyWorld>"])
        #expect(read("BASIC REALM=WallyWorld") == ["basic realm=<WallyWorld>"])
        #expect(read("  Basic \t realm \t= \"a\"  ,  charset=\"UTF-8\" ") == ["basic realm=<a> charset=<UTF-8>"])
        #expect(read("Basic realm=\"\"") == ["basic realm=<>"])
        #expect(read("Negotiate") == ["negotiate"])
        #expect(read("Negotiate YII/-._~+9==") == ["negotiate [YII/-._~+9==]"])
    }

    @Test
    func `several challenges in one field are parsed as in RFC 9110, 11.6.1`() {
        #expect(
            read("Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"") == [
                "basic realm=<simple>", "newauth realm=<apps> type=<1> title=<Login to \"apps\">",
            ]
        )
        #expect(
            read("Negotiate, NTLM abc=, Digest realm=\"a, Basic realm=b\", nonce=\"x\",Basic realm=c") == [
                "negotiate", "ntlm [abc=]", "digest realm=<a, Basic realm=b> nonce=<x>", "basic realm=<c>",
            ]
        )
        #expect(read(", ,Basic realm=a,, ,Bearer,") == ["basic realm=<a>", "bearer"])
    }

    @Test
    func `challenges in several fields don't share parameters`() {
        #expect(read("Basic realm=a", "Digest realm=b, nonce=c") == ["basic realm=<a>", "digest realm=<b> nonce=<c>"])
        #expect(read("Basic realm=a", "charset=\"UTF-8\"") == ["basic realm=<a>"])
    }

    @Test(arguments: [
        "Basic realm=\"open", "Basic realm=\"a\\", "Basic realm=a realm=b", "Basic realm=a, realm=b",
        "Basic realm=a;b", "Basic =a", "=", "\"\"", "Basic @", "Basic a b", "Basic/2 realm=a", "@Basic realm=a",
    ])
    func `an invalid challenge is skipped, and the next one is parsed`(value: String) {
        #expect(read(value).filter { $0 != "basic" } == [], "\(read(value))")
        #expect(read(value, "Digest realm=b, nonce=c").last == "digest realm=<b> nonce=<c>")
    }

    @Test
    func `an invalid challenge does not affect others`() {
        #expect(read("Basic realm=a b, Digest realm=c, nonce=d") == ["digest realm=<c> nonce=<d>"])
        #expect(read("Digest realm=a, Basic realm=b, @, Bearer realm=c") == ["digest realm=<a>", "bearer realm=<c>"])
    }

    @Test
    func `the number of parsed challenges is limited`() {
        let many = Array(repeating: "Basic realm=a", count: 1_000).joined(separator: ",")
        #expect(read(many).count == 32)
    }

    @Test
    func `a challenge of more parameters than any scheme has is left out`() {
        let many = (0..<64).map { "p\($0)=x" }.joined(separator: ", ")
        #expect(ChallengeParser.challenges(in: ["Custom \(many)"]).first?.parameters.count == 64)
        #expect(read("Custom \(many), more=x, Basic realm=b") == ["basic realm=<b>"])
        #expect(ChallengeParser.parameters(in: ["\(many), more=x"]).count == 64)
    }

    @Test
    func `a field of parameters is parsed`() {
        let info = ChallengeParser.parameters(in: ["nextnonce=\"a,b\", qop=auth, NC=00000001", "rspauth=\"x\""])
        #expect(info == ["nextnonce": "a,b", "qop": "auth", "nc": "00000001", "rspauth": "x"])
        #expect(ChallengeParser.parameters(in: ["", "=,@"]) == [:])
    }
}
