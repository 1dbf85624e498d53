import NIOCore
import NIOHTTP1

/// What is sent in place of a request since its server asked for it; an object, so that finding it copies nothing.
final class Hop {
    let request: PreparedRequest

    init(_ request: PreparedRequest) { self.request = request }
}

/// What is sent now: the request, or what its server made of it; belongs to the session's event loop.
///
/// A prepared request is large. Each property is read where it stands, since to copy the whole for one of them costs an
/// allocation and the counting of twenty references, several times for each request.
struct CurrentRequest {
    private let handle: RequestHandle

    init(_ handle: RequestHandle) { self.handle = handle }

    private var hop: Hop? { handle.run.extras?.hop }

    /// A copy of it all.
    var copy: PreparedRequest { hop?.request ?? handle.request }

    var url: HTTPURL { if let hop { hop.request.url } else { handle.request.url } }
    var endpoint: Endpoint { if let hop { hop.request.endpoint } else { handle.request.endpoint } }
    var head: HTTPRequestHead { if let hop { hop.request.head } else { handle.request.head } }
    var body: ByteBuffer? { if let hop { hop.request.body } else { handle.request.body } }
    var source: BodySource? { if let hop { hop.request.source } else { handle.request.source } }
    var limits: Timeouts { if let hop { hop.request.limits } else { handle.request.limits } }
    var login: RequestLogin? { if let hop { hop.request.login } else { handle.request.login } }
    var policy: RequestPolicy { if let hop { hop.request.policy } else { handle.request.policy } }
    var hasBody: Bool { if let hop { hop.request.hasBody } else { handle.request.hasBody } }
    var isRepeatable: Bool { if let hop { hop.request.isRepeatable } else { handle.request.isRepeatable } }
    var description: String { if let hop { hop.request.description } else { handle.request.description } }

    var maximumBodySize: Int { if let hop { hop.request.maximumBodySize } else { handle.request.maximumBodySize } }

    var maximumStreamSize: Int {
        if let hop { hop.request.maximumStreamSize } else { handle.request.maximumStreamSize }
    }

    var expectsContinue: Bool {
        if let hop { hop.request.expectsContinue } else { handle.request.expectsContinue }
    }
}

extension RequestHandle {
    /// What is sent now: the request, or what its server made of it.
    ///
    /// Belongs to the session's event loop.
    var current: CurrentRequest { .init(self) }
}
