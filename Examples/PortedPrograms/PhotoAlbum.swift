import Foundation
import NetworkClient

struct Photo: Codable, Sendable {
    var id: Int
    var title: String
    var takenAt: Date
}

struct PhotoQuery: Encodable {
    var album: String
    var page: Int
    var tags: [String]
}

/// Adds the token to each attempt, also to retries.
struct TokenInterceptor: RequestInterceptor {
    let token: @Sendable () async throws -> String

    func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
        var request = request
        request.headerFields[.authorization] = "Bearer \(try await token())"
        return request
    }
}

/// Prints each request that has finished, and each response that was refused or can't be decoded.
struct Log: EventMonitor {
    func request(_ request: RequestHandle, did event: RequestEvent) {
        switch event {
        case .finished(.success(let response)):
            print(request.head.method, request.head.path ?? "", response.status, "attempts:", response.metrics.attempts)
        case .serialized(let error?): print("response of", request.head.path ?? "", "is unusable:", error.code)
        default: break
        }
    }
}

struct PhotoAlbum {
    let session: HTTPSession

    init(server: String) throws {
        var retry = RetryPolicy.standard
        retry.maximumAttempts = 3
        retry.baseDelay = .milliseconds(10)
        let decoding = ResponseSerializerSettings {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        session = try HTTPSession(
            baseURL: server,
            configuration: .init(
                requestSerializer: JSONSerializer(),
                responseSerializer: decoding,
                eventMonitors: [Log()],
                retry: retry,
                interceptors: [TokenInterceptor { "secret" }]
            )
        )
    }

    func photos(_ query: PhotoQuery) async throws -> [Photo] {
        try await session.get("photos", parameters: query).decoded()
    }

    func rename(_ photo: Photo, to title: String) async throws -> Photo {
        try await session.put("photos/\(photo.id)", parameters: ["title": title]).decoded()
    }

    func delete(_ photo: Photo) async throws {
        _ = try await session.delete("photos/\(photo.id)").decoded(EmptyResponse.self)
    }

    func upload(_ file: URL, titled title: String) async throws -> Photo {
        let body = RequestBody.multipart([.file(file.path(), name: "photo")])
        return try await session.post("photos", parameters: ["title": title], body: body).decoded()
    }

    func original(of photo: Photo, in folder: URL) async throws -> URL {
        let file = folder.appending(path: "\(photo.id).jpeg")
        let request = session.download("photos/\(photo.id)/original", to: file.path())
        for await step in request.progress { print(step.received, "of", step.toReceive ?? 0) }
        _ = try await request.response()
        return file
    }
}

func runPhotoAlbum(server: String, picture: String, folder: String) async throws {
    let album = try PhotoAlbum(server: server)
    do {
        _ = try await album.photos(.init(album: "none", page: 1, tags: []))
    } catch let error as HTTPError {
        print(error.response?.status.code ?? 0, String(decoding: error.body, as: UTF8.self))
    }
    let photos = try await album.photos(.init(album: "Alps", page: 1, tags: ["snow", "lake"]))
    for photo in photos { print(photo.title, photo.takenAt.formatted(.iso8601)) }
    guard let first = photos.first else { return }
    print(try await album.rename(first, to: "Säntis").title)
    print(try await album.upload(URL(filePath: picture), titled: "New").id)
    print(try await album.original(of: first, in: URL(filePath: folder)).lastPathComponent)
    try await album.delete(first)
}
