import Glibc
import NetworkClient

let url = CommandLine.arguments.dropFirst().first ?? "http://192.0.2.7/readings"
let patience = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 60
let gate = ConnectivityGate(requirement: .notCellular, timeout: .seconds(patience))
do {
    let pass = try await gate.pass(to: url)
    print("goes by", pass.interfaceName ?? "any interface", "to", pass.addresses?.first?.description ?? "any address")
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try pass.bind(socket)
    // From here on it is the client's: connect(2) the socket, or hand it over, or name the interface.
    close(socket)
} catch {
    print("can't go:", error)
}
