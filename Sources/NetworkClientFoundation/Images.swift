public import Foundation
public import NetworkClient

/// Decodes the body as an image, with the decoder of an image library.
///
/// ```swift
/// let serializer = ImageResponseSerializer { try PNGImage(data: $0) }
/// let image = try await session.get("logo.png").value(serializer)
/// ```
public struct ImageResponseSerializer<Image: Sendable>: ResponseSerializer {
    /// The acceptable responses; by default those of `ResponseExpectation.image`.
    public var expectation: ResponseExpectation
    private let decode: @Sendable (Data) throws -> Image

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - expectation: The acceptable responses.
    ///   - decode: Returns the image of a body; called off the event loop. An error that it throws is the cause of one
    ///     with the code `responseSerializationFailed`.
    public init(expectation: ResponseExpectation = .image, _ decode: @escaping @Sendable (Data) throws -> Image) {
        self.expectation = expectation
        self.decode = decode
    }

    /// Decodes the image.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Image {
        try expectation.value(of: response, body: body) { try decode(Data($0)) }
    }
}

extension DataRequest {
    /// Returns the response's body as an image, if it has a media type of images.
    ///
    /// - Parameter decode: Returns the image of a body.
    /// - Returns: The image.
    /// - Throws: ``HTTPError``, as ``data()``; ``HTTPError/Code/unacceptableContentType`` unless the body has a media type
    ///   of images, ``HTTPError/Code/responseSerializationFailed`` if it can't be decoded.
    public func image<Image: Sendable>(
        _ decode: @escaping @Sendable (Data) throws -> Image
    ) async throws(HTTPError) -> Image {
        try await value(ImageResponseSerializer(expectation: expectation(.image), decode))
    }
}
