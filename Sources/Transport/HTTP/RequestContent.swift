package import HTTPTypes

/// What a request has as its body, if that is not in memory: read while it is sent.
package protocol RequestContent: Sendable {
    /// In bytes: as many are announced and sent.
    var count: Int { get }
    /// For messages.
    var path: String { get }
    /// Nil where it cannot be opened.
    func open() -> (any OpenContent)?
}

/// Content that is being read. One call at a time.
package protocol OpenContent: Sendable {
    /// How many bytes there were; 0 at the end, nil where it cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
    /// Begins anew.
    func rewind()
}

extension RequestContent {
    /// All of it in memory. Throws where it is not there, or of another length.
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
        TransportError(.invalidRequest, "The file \(path) cannot be read whole.", mayHaveBeenSent: false)
    }
}

/// A transport that reads any content while it sends it. Of others only files are known to be read, as they are.
package protocol ContentTransport: HTTPTransport {
    func send(
        _ request: HTTPRequest, content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8])
}

extension HTTPTransport {
    /// The content as it is sent: while it is read where the transport can do that, otherwise from memory.
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
