import FuzzSupport
import NetworkClientCore

/// Any bytes as what a SOCKS proxy says: the dialogue must not depend on how they were split, nor lose the origin's bytes.
@main
enum FuzzSOCKS {
    static func main() {
        Fuzzer.run { start, count in
            FuzzSOCKS.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first byte tells whether there is a login, the second how the rest is split.
    private static func run(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let login = input[0] & 1 == 0 ? nil : SOCKS5Dialogue.Login(user: "user", password: "password")
        let replies = Array(input.dropFirst(2))
        let dialogue = SOCKS5Dialogue(to: .name("origin.example"), port: 443, login: login)
        let outcome = outcome(of: dialogue, Splitting(replies, seed: input[1]))
        let alone = Self.outcome(of: dialogue, Splitting(replies, seed: 1))
        Fuzzer.expect(outcome.end == alone.end, "split otherwise, it ends with \(outcome.end), not \(alone.end)")
        Fuzzer.expect(outcome.messages.count <= 2, "\(outcome.messages.count) messages were sent behind the greeting")
        guard case .open(let rest) = outcome.end else { return }
        Fuzzer.expect(replies.suffix(rest.count) == rest[...], "the origin's bytes have changed")
        Fuzzer.expect(outcome.messages.last?.prefix(3) == [5, 1, 0], "it opened, though nothing was asked")
    }

    private struct Outcome {
        var messages: [[UInt8]] = []
        var end = ProxyStep.wait
    }

    /// Takes the dialogue to its end.
    private static func outcome(of dialogue: SOCKS5Dialogue, _ pieces: Splitting) -> Outcome {
        var dialogue = dialogue
        var outcome = Outcome()
        // A server speaks only when it was asked: first it chooses how to log in, in two bytes.
        var turn = 2
        for var piece in pieces.map({ $0[...] }) {
            while !piece.isEmpty {
                let bytes = piece.prefix(turn)
                piece = piece.dropFirst(bytes.count)
                turn -= bytes.count
                switch outcome.end {
                case .open(let rest): outcome.end = .open(rest: rest + bytes)
                case .wait:
                    let step = dialogue.receive(bytes)
                    guard case .send(let message) = step else {
                        outcome.end = step
                        break
                    }
                    outcome.messages.append(message)
                    // What answers a login has two bytes, and what answers the request some more.
                    turn = message.first == 1 ? 2 : .max
                default: return outcome
                }
                if turn == 0 { turn = .max }
            }
        }
        return outcome
    }
}
