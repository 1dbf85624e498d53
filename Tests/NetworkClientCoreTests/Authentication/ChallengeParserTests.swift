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
    func `one challenge, with what may stand around it`() {
        #expect(read("Basic realm=\"WallyWorld\"") == ["basic realm=<WallyWorld>"])
        #expect(read("BASIC REALM=WallyWorld") == ["basic realm=<WallyWorld>"])
        #expect(read("  Basic \t realm \t= \"a\"  ,  charset=\"UTF-8\" ") == ["basic realm=<a> charset=<UTF-8>"])
        #expect(read("Basic realm=\"\"") == ["basic realm=<>"])
        #expect(read("Negotiate") == ["negotiate"])
        #expect(read("Negotiate YII/-._~+9==") == ["negotiate [YII/-._~+9==]"])
    }

    @Test
    func `several in one field, as RFC 9110, 11.6.1, has them`() {
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
    func `several in several fields; parameters do not reach over`() {
        #expect(read("Basic realm=a", "Digest realm=b, nonce=c") == ["basic realm=<a>", "digest realm=<b> nonce=<c>"])
        #expect(read("Basic realm=a", "charset=\"UTF-8\"") == ["basic realm=<a>"])
    }

    @Test(arguments: [
        "Basic realm=\"open", "Basic realm=\"a\\", "Basic realm=a realm=b", "Basic realm=a, realm=b",
        "Basic realm=a;b", "Basic =a", "=", "\"\"", "Basic @", "Basic a b", "Basic/2 realm=a", "@Basic realm=a",
    ])
    func `what breaks the rules is left out, and what follows counts`(value: String) {
        #expect(read(value).filter { $0 != "basic" } == [], "\(read(value))")
        #expect(read(value, "Digest realm=b, nonce=c").last == "digest realm=<b> nonce=<c>")
    }

    @Test
    func `a broken one takes no other with it`() {
        #expect(read("Basic realm=a b, Digest realm=c, nonce=d") == ["digest realm=<c> nonce=<d>"])
        #expect(read("Digest realm=a, Basic realm=b, @, Bearer realm=c") == ["digest realm=<a>", "bearer realm=<c>"])
    }

    @Test
    func `no server makes it read without end`() {
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
    func `parameters alone`() {
        let info = ChallengeParser.parameters(in: ["nextnonce=\"a,b\", qop=auth, NC=00000001", "rspauth=\"x\""])
        #expect(info == ["nextnonce": "a,b", "qop": "auth", "nc": "00000001", "rspauth": "x"])
        #expect(ChallengeParser.parameters(in: ["", "=,@"]) == [:])
    }
}
