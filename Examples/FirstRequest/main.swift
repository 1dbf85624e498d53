import NetworkClient

struct User: Decodable { var name: String }

let base = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1"
let session = try HTTPSession(baseURL: base)
do {
    let user = try await session.get("users/7", parameters: ["fields": ["name", "tags"]]).decoded(User.self)
    print("hello", user.name)
} catch {
    print("no response:", error, "(\(error.code), \(error.processing))")
}
