import FuzzSupport
import NetworkClientCore

/// Any bytes as an HTTP proxy's response to CONNECT: it must not matter how they were split, and none of the origin's
/// bytes may be lost.
@main
enum FuzzConnect {
    private static let maximumHead = 1_024

    static func main() {
        Fuzzer.run { start, count in
            FuzzConnect.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first byte tells how the rest is split.
    private static func run(_ input: [UInt8]) {
        guard let seed = input.first else { return }
        let response = Array(input.dropFirst())
        let end = end(of: Splitting(response, seed: seed))
        let alone = Self.end(of: Splitting(response, seed: 1))
        Fuzzer.expect(end == alone, "split otherwise, it ends with \(end), not \(alone)")
        switch end {
        case .open(let rest):
            Fuzzer.expect(response.suffix(rest.count) == rest[...], "the origin's bytes have changed")
            Fuzzer.expect(response.count - rest.count <= maximumHead, "a head that is too large was taken")
        case .refused(.response(let answer)):
            Fuzzer.expect(answer.body.count <= ConnectDialogue.keptBody, "\(answer.body.count) bytes were kept")
            Fuzzer.expect(!(200..<300 ~= answer.status), "\(answer.status) is no refusal")
        case .send: Fuzzer.expect(false, "there is nothing more to be sent")
        case .refused, .wait: break
        }
    }

    private static func end(of pieces: Splitting) -> ProxyStep {
        var dialogue = ConnectDialogue(to: "origin.example:443", fields: [], maximumHead: maximumHead)
        var end = ProxyStep.wait
        for piece in pieces {
            if case .open(let rest) = end {
                end = .open(rest: rest + piece)
            } else if end == .wait {
                end = dialogue.receive(piece)
            }
        }
        if end == .wait, let refusal = dialogue.end() { end = .refused(refusal) }
        return end
    }
}
