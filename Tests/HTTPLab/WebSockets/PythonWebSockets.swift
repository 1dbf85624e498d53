import Glibc
import NetworkLab

/// A server of Python's `websockets`, which returns each message; the path `/subprotocol` chooses `chat`, `/close/CODE`
/// closes with a code.
package final class PythonWebSockets: Sendable {
    private let daemon: ServerDaemon

    /// The port.
    package var port: UInt16 { daemon.port }

    /// The origin, without a trailing slash.
    package var url: String { "\(scheme)://127.0.0.1:\(daemon.port)" }
    private let scheme: String

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - compression: The Python expression for permessage-deflate; `None` for no compression.
    ///   - identity: The certificate chain and its key, in PEM; nil for no TLS.
    /// - Throws: The server's output, if it does not start.
    package init(compression: String = "None", identity: (chain: String, key: String)? = nil) throws {
        guard Self.isInstalled else { throw LabError("start websockets", errno: ENOENT, detail: Self.advice) }
        scheme = identity == nil ? "ws" : "wss"
        daemon = try ServerDaemon("/usr/bin/python3", arguments: [ServerDaemon.file], sign: "listening") {
            folder,
            port in
            let chain = try identity.map { try folder.write("chain.pem", $0.chain) }
            let key = try identity.map { try folder.write("key.pem", $0.key) }
            return Self.program(port, compression, chain ?? "", key ?? "")
        }
    }

    /// Whether it is installed; tests use `.enabled(if: PythonWebSockets.isInstalled, …)` with ``advice``.
    package static let isInstalled = access("/usr/lib/python3/dist-packages/websockets/server.py", R_OK) == 0

    /// The advice for machines where it is not installed.
    package static let advice = "Python's websockets is not installed: run scripts/setup --for-tests"

    private static func program(_ port: UInt16, _ compression: String, _ chain: String, _ key: String) -> String {
        """
        import asyncio, ssl, websockets
        from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
        async def serve(socket, path):
            if path.startswith("/close/"):
                await socket.close(int(path[7:]), "as asked")
            async for message in socket:
                await socket.send(message)
        async def main():
            factory = \(compression)
            context = None
            if "\(chain)":
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain("\(chain)", "\(key)")
            async with websockets.serve(serve, "127.0.0.1", \(port), subprotocols=["chat"], compression=None,
                    extensions=[factory] if factory else None, max_size=None, ping_interval=None, ssl=context):
                print("listening", flush=True)
                await asyncio.Future()
        asyncio.run(main())

        """
    }
}
