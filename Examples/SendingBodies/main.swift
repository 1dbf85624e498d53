import Dispatch
import NetworkClient

// Sends bodies of every kind: `SendingBodies URL FILE [all | progress]`; without `all`, the file alone.

/// A program's own records, made one by one.
struct Records: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        var number = 0

        mutating func next() async -> [UInt8]? {
            guard number < 3 else { return nil }
            defer { number += 1 }
            return Array("record \(number)\n".utf8)
        }
    }

    func makeAsyncIterator() -> Iterator { .init() }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print("usage: SendingBodies URL FILE [all | progress]")
    throw CancellationError()
}
let path = arguments[2]
let session = try HTTPSession(baseURL: arguments[1])

func sendFile() async throws {
    let request = session.upload("files/7", from: .file(path), method: .put)
    for await event in request.events {
        if case .sending(let bytes, let total?) = event { print("sent \(bytes) of \(total)") }
    }
    print(try await request.response().status)
}

func sendWithProgress() async throws {
    let request = session.upload("files/7", from: .file(path), method: .put)
    request.onProgress(on: .main) { print("sent \($0.sent) of \($0.toSend ?? 0)") }
    for await progress in request.progress { print(progress.sent, progress.received) }
}

func show(_ request: DataRequest) async throws { print(try await request.response().status) }

func sendOthers() async throws {
    let records = Records()
    try await show(session.upload("log", from: .once(records, contentType: "text/plain")))
    try await show(session.upload("log", from: .replayable(length: 27, contentType: "text/plain") { Records() }))
    let slow = RequestBody.file(path, contentType: "text/plain").throttled(.init(packetSize: 4_096))
    try await show(session.upload("files/8", from: slow))
    try await show(session.post("reports", body: .json(["kind": "daily"])))
}

func sendForms() async throws {
    var form: MultipartForm = [
        .text("Ann", name: "user"),
        .file(path, name: "report"),
        .bytes([0x89, 0x50, 0x4E, 0x47], name: "icon", fileName: "icon.png"),
    ]
    form.append(.stream(.replayable(length: 27) { Records() }, name: "records", fileName: "records.txt"))
    let headers: HTTPFields = [.contentDisposition: #"form-data; name="note""#, .contentLanguage: "de"]
    form.append(.part(headers: headers, body: [0x21]))
    try await show(session.upload("forms", from: .multipart(form)))
    let body = try await form.write(to: path + ".form")
    try await show(session.upload("forms", from: body))
}

if arguments.count == 3 {
    try await sendFile()
} else if arguments[3] == "progress" {
    try await sendWithProgress()
} else {
    try await sendOthers()
    try await sendForms()
}
