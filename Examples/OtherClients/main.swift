import Glibc
import NetworkClient

let url = CommandLine.arguments.dropFirst().first ?? "http://192.0.2.7/readings"
let timeout = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 60
let gate = ConnectivityGate(requirement: .notCellular, timeout: .seconds(timeout))
do {
    let pass = try await gate.pass(to: url)
    let address = pass.addresses?.first?.description ?? "any address"
    print("connect to", address, "through", pass.interfaceName ?? "any interface")
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try pass.bind(socket)
    // The socket is bound: connect(2) it, or pass the interface's name to your client.
    close(socket)
} catch {
    print("cannot connect:", error)
}
