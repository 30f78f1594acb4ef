package import HTTPTypes

/// A request body that is not in memory and is read while it is sent.
package protocol RequestContent: Sendable {
    /// The size in bytes, which is announced and sent; -1 if it is not known before the end, for transports that
    /// can send such content.
    var count: Int { get }
    /// The path, for messages.
    var path: String { get }
    /// Opens the content. Returns `nil` if that is not possible.
    ///
    /// - Parameter resume: Called when bytes are available after `read` has returned ``requestContentPause``.
    func open(resume: @escaping @Sendable () -> Void) -> (any OpenContent)?
    /// Opens content that never pauses.
    func open() -> (any OpenContent)?
}

/// The result of ``OpenContent/read(into:)`` if no bytes are available yet.
package let requestContentPause = -1

/// Open content. Calls must not overlap.
package protocol OpenContent: Sendable {
    /// Reads bytes. Returns their number, 0 at the end, or `nil` if reading fails.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
    /// Starts again at the beginning.
    func rewind()
}

extension RequestContent {
    package func open(resume: @escaping @Sendable () -> Void) -> (any OpenContent)? { open() }

    /// Returns the whole content in memory. Throws if it is missing or has another length.
    package func bytes() throws(TransportError) -> [UInt8] {
        guard let content = open() else { throw unreadable }
        var bytes = [UInt8](repeating: 0, count: count)
        var offset = 0
        while offset < count {
            let read = bytes.withUnsafeMutableBytes { content.read(into: .init(rebasing: $0[offset...])) }
            guard let read, read > 0 else { throw unreadable }
            offset += read
        }
        return bytes
    }

    var unreadable: TransportError {
        TransportError(.invalidRequest, "The file \(path) cannot be read completely.", mayHaveBeenSent: false)
    }
}

/// A transport that can read any content while sending it. Other transports support only files.
package protocol ContentTransport: HTTPTransport {
    func send(
        _ request: HTTPRequest, content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8])
}

extension HTTPTransport {
    /// Sends the content: read while sending if the transport supports that, otherwise from memory.
    package func sendContent(
        _ request: HTTPRequest, _ content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        if let file = content as? RequestFile { return try await send(request, file: file) }
        if let transport = self as? any ContentTransport {
            return try await transport.send(request, content: content)
        }
        return try await send(request, body: try content.bytes())
    }
}
