import EventCore

/// The status line and the header fields of a response.
struct ResponseHead {
    var status: Int
    var type: String
    /// The length of the body; nil if there is none, or it ends with the connection.
    var length: Int?
    var tag: EventID?
    /// Further fields, each with its line end.
    var fields: String
    /// Whether another origin would get another response.
    var variesByOrigin = false
    /// The foreign origin whose pages may read the response.
    var allowedOrigin: String?
    var keepsAlive = false

    init(status: Int, type: String, length: Int?, tag: EventID?, fields: String) {
        self.status = status
        self.type = type
        self.length = length
        self.tag = tag
        self.fields = fields
    }

    /// The head as it is sent.
    var text: String {
        var text = "HTTP/1.1 \(status) \(RequestRefusal.phrase(of: status))\r\nCache-Control: no-cache\r\n"
        if status != 304 { text += "Content-Type: \(type)\r\nX-Content-Type-Options: nosniff\r\n" }
        if let length { text += "Content-Length: \(length)\r\n" }
        if let tag { text += "ETag: \"\(tag)\"\r\n" }
        if status == 405 { text += "Allow: GET, HEAD\r\n" }
        if variesByOrigin { text += "Vary: Origin\r\n" }
        if let allowedOrigin { text += "Access-Control-Allow-Origin: \(allowedOrigin)\r\n" }
        if !keepsAlive { text += "Connection: close\r\n" }
        return text + fields + "\r\n"
    }
}
