/// The replies of SOCKS proxies (RFC 1928, 6).
enum SOCKSReply {
    /// What a reply means.
    static func words(_ code: UInt8) -> String {
        switch code {
        case 1: "it failed"
        case 2: "its rules do not allow that connection"
        case 3: "it has no route to that network"
        case 4: "the host can't be reached"
        case 5: "the connection was refused"
        case 6: "a packet's time to live ran out on the way"
        case 7: "it makes no connections (the command is not supported)"
        case 8: "it knows no addresses of that kind"
        default: "it replied with the unknown code \(code)"
        }
    }

    /// Whether the proxy will say the same again.
    static func isFinal(_ code: UInt8) -> Bool { [2, 7, 8].contains(code) }

    /// Whether another address of the same host may do better.
    static func isOfTheAddress(_ code: UInt8) -> Bool { [1, 3, 4, 5, 6, 8].contains(code) }
}
