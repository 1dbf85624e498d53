import FuzzSupport
import NetworkClientCore

/// Any text as `WWW-Authenticate` fields: what was read can be written and read again, an answer to it repeats what the
/// server wants back, and a server can't ask for ever.
@main
enum FuzzChallenge {
    static func main() {
        Fuzzer.run { start, count in
            FuzzChallenge.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// Each line is a field's value.
    private static func run(_ input: [UInt8]) {
        let values = InputText.lines(input)
        guard values.allSatisfy(InputText.isFieldValue) else { return }
        let challenges = ChallengeParser.challenges(in: values)
        Fuzzer.expect(challenges.count <= 32, "\(challenges.count) challenges were read")
        challenges.forEach(checkForm)
        let texts = challenges.map(text)
        Fuzzer.expect(ChallengeParser.challenges(in: texts) == challenges, "read again, \(texts) are others")
        let list = texts.joined(separator: ", ")
        Fuzzer.expect(ChallengeParser.challenges(in: [list]) == challenges, "as a list, '\(list)' is another one")
        for digest in challenges.compactMap(DigestChallenge.init) { checkAnswers(to: digest) }
        checkTrail(of: challenges)
    }

    private static func checkForm(_ challenge: AuthenticationChallenge) {
        let names = challenge.parameters.map(\.name)
        for name in names + [challenge.scheme] {
            let isToken = !name.isEmpty && name.utf8.allSatisfy { $0.isTokenCharacter && !$0.isASCIIUppercase }
            Fuzzer.expect(isToken, "'\(name)' is no token in lower case")
        }
        Fuzzer.expect(names.count <= 64, "\(names.count) parameters were read")
        Fuzzer.expect(Set(names).count == names.count, "a parameter comes twice: \(names)")
        Fuzzer.expect(challenge.token68 == nil || names.isEmpty, "it has both a token and parameters: \(challenge)")
    }

    private static func text(of challenge: AuthenticationChallenge) -> String {
        let parameters = challenge.parameters.map { "\($0.name)=\(quoted($0.value))" }.joined(separator: ", ")
        return [challenge.scheme, challenge.token68 ?? parameters].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        quoted.unicodeScalars.append("\"")
        return quoted
    }

    /// Two answers in a row: each can be read, and repeats what the challenge has.
    private static func checkAnswers(to challenge: DigestChallenge) {
        let request = DigestSession.Request(method: "GET", target: "/\"a\"?b=c", body: [1, 2])
        let credential = Credential(user: "J\u{E4}s\"o\\n", password: "secret")
        guard var session = DigestSession(challenge, credential, hashes) else {
            return Fuzzer.expect(false, "there is no session for \(challenge)")
        }
        for count in 1...2 {
            guard let value = session.authorization(for: request, clientNonce: "0a4f113b") else {
                return Fuzzer.expect(false, "there are no credentials for \(challenge)")
            }
            let answers = ChallengeParser.challenges(in: [value])
            Fuzzer.expect(answers.count == 1 && answers[0].scheme == "digest", "'\(value)' can't be read")
            check(answers[0], answers: challenge, to: request, count: count)
        }
    }

    private static func check(
        _ answer: AuthenticationChallenge,
        answers challenge: DigestChallenge,
        to request: DigestSession.Request,
        count: Int
    ) {
        let expected: KeyValuePairs = [
            "realm": challenge.realm, "nonce": challenge.nonce, "opaque": challenge.opaque,
            "algorithm": challenge.algorithmName, "uri": request.target,
            "nc": challenge.protections.map { _ in "0000000\(count)" },
        ]
        for (name, value) in expected {
            Fuzzer.expect(answer[name] == value, "\(name) is \(answer[name] ?? "missing"), not \(value ?? "missing")")
        }
        let digits = challenge.algorithm == .md5 ? 32 : 64
        let response = answer["response"] ?? ""
        let isHash = response.utf8.count == digits && response.utf8.allSatisfy { $0.hexadecimalValue != nil }
        Fuzzer.expect(isHash, "'\(response)' is no hash")
    }

    /// Stands for the hash functions: their results are only as long as those.
    private static let hashes = DigestHashes(md5: { hash($0, count: 16) }, sha256: { hash($0, count: 32) })

    private static func hash(_ bytes: [UInt8], count: Int) -> [UInt8] {
        let seed = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return (0..<count).map { UInt8(truncatingIfNeeded: seed >> UInt64($0 & 7)) }
    }

    /// A server that asks the same again and again.
    private static func checkTrail(of challenges: [AuthenticationChallenge]) {
        let origin = HTTPOrigin(isSecure: true, host: "origin.example", port: 443)
        var trail = ChallengeTrail()
        var sent: ChallengeTrail.Sent?
        for _ in 0..<9 {
            let answered: AuthenticationChallenge
            switch trail.challenged(challenges, at: origin, sent: sent) {
            case .refused: return
            case .renew(let challenge): answered = challenge
            case .authenticate(let open):
                guard let first = open.first else { return }
                answered = first
            }
            Fuzzer.expect(challenges.contains(answered), "\(answered) was not asked for")
            trail.willAuthenticate(answered.realm ?? "")
            sent = .init(scheme: answered.scheme, realm: answered.realm ?? "", isMade: true)
        }
        Fuzzer.expect(false, "the challenges \(challenges) are answered for ever")
    }
}
