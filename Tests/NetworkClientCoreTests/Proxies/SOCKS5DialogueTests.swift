import NetworkClientCore
import ReachabilityCore
import Testing

struct SOCKS5DialogueTests {
    private typealias Login = SOCKS5Dialogue.Login

    /// Returns the messages that a dialogue sends in response to a server's pieces, and its last step.
    private func talk(_ dialogue: SOCKS5Dialogue, _ pieces: [[UInt8]]) -> (sent: [[UInt8]], end: ProxyStep?) {
        var dialogue = dialogue
        var sent: [[UInt8]] = []
        for piece in pieces {
            switch dialogue.receive(piece) {
            case .wait: continue
            case .send(let bytes): sent.append(bytes)
            case let end: return (sent, end)
            }
        }
        return (sent, nil)
    }

    private func byteByByte(_ bytes: [UInt8]) -> [[UInt8]] { bytes.map { [$0] } }

    private let plain = SOCKS5Dialogue(to: .name("example.com"), port: 0x1F90, login: nil)
    private let asking: [UInt8] = [5, 1, 0, 3, 11] + Array("example.com".utf8) + [0x1F, 0x90]

    @Test func `a name is sent unresolved, without a login`() {
        #expect(plain.greeting == [5, 1, 0])
        let (sent, end) = talk(plain, [[5, 0], [5, 0, 0, 1, 192, 0, 2, 1, 0, 80]])
        #expect(sent == [asking])
        #expect(end == .open(rest: []))
    }

    @Test func `addresses are sent as bytes`() throws {
        let ipv4 = SOCKS5Dialogue(to: .address(try #require(IPAddress("192.0.2.7"))), port: 80, login: nil)
        #expect(talk(ipv4, [[5, 0]]).sent == [[5, 1, 0, 1, 192, 0, 2, 7, 0, 80]])
        let ipv6 = SOCKS5Dialogue(to: .address(try #require(IPAddress("2001:db8::ff"))), port: 443, login: nil)
        let bytes: [UInt8] = [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [0xFF]
        #expect(talk(ipv6, [[5, 0]]).sent == [[5, 1, 0, 4] + bytes + [1, 0xBB]])
    }

    @Test func `a user name and a password are sent only if the server selects that method`() {
        let dialogue = SOCKS5Dialogue(to: .name("example.com"), port: 0x1F90, login: .init(user: "me", password: "pw"))
        #expect(dialogue.greeting == [5, 2, 0, 2])
        #expect(talk(dialogue, [[5, 0]]).sent == [asking])
        let (sent, end) = talk(dialogue, [[5, 2], [1, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7, 8]])
        #expect(sent == [[1, 2, 109, 101, 2, 112, 119], asking])
        #expect(end == .open(rest: [7, 8]))
        #expect(talk(dialogue, [[5, 2], [1, 1]]).end == .refused(.invalidCredential))
    }

    @Test func `bytes may arrive one by one, and later bytes are kept`() {
        let dialogue = SOCKS5Dialogue(to: .name("example.com"), port: 0x1F90, login: .init(user: "a", password: "b"))
        for address: [UInt8] in [[1, 1, 2, 3, 4], [3, 2, 65, 66], [3, 0], [4] + [UInt8](repeating: 9, count: 16)] {
            let reply = [5, 0, 0] + address + [1, 2]
            let (sent, end) = talk(dialogue, byteByByte([5, 2]) + byteByByte([1, 0]) + byteByByte(reply))
            #expect(sent.count == 2)
            #expect(end == .open(rest: []))
            #expect(talk(dialogue, [[5, 2], [1, 0], reply + [42]]).end == .open(rest: [42]))
            let early = byteByByte([5, 2]) + byteByByte([1, 0]) + byteByByte(reply.dropLast())
            #expect(talk(dialogue, early).end == nil)
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `every reply code but 0 is a refusal, even without an address`(code: UInt8) {
        guard code != 0 else { return }
        #expect(talk(plain, [[5, 0], [5, code]]).end == .refused(.reply(code)))
        #expect(talk(plain, [[5, 0], [5, code, 0, 1, 0, 0, 0, 0, 0, 0]]).end == .refused(.reply(code)))
    }

    @Test func `a server that selects a method that was not offered is rejected`() {
        #expect(talk(plain, [[5, 0xFF]]).end == .refused(.noAcceptableMethod))
        for method: UInt8 in [1, 2, 3, 0x80] {
            guard case .refused(.protocolViolation)? = talk(plain, [[5, method]]).end else {
                Issue.record("\(method)")
                return
            }
        }
    }

    @Test(
        arguments: [
            [Array("HTTP/1.1 400 Bad Request\r\n".utf8)], [[4, 90]], [[0]], [[5, 0, 5]], [[5, 0], [4, 0]],
            [[5, 0], [5, 0, 0, 2, 0]],
        ] as [[[UInt8]]]
    )
    func `a violation of the protocol is described`(pieces: [[UInt8]]) {
        guard case .refused(.protocolViolation(let words))? = talk(plain, pieces).end else {
            Issue.record("\(pieces)")
            return
        }
        #expect(!words.isEmpty)
    }

    @Test func `a login must fit into its message`() {
        let long = String(repeating: "x", count: 256)
        #expect(Login(user: "a", password: "").fits)
        #expect(Login(user: String(long.dropLast()), password: String(long.dropLast())).fits)
        for login in [
            Login(user: "", password: "a"), .init(user: long, password: ""), .init(user: "a", password: long),
        ] {
            #expect(!login.fits)
        }
    }
}
