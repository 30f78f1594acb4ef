/// Why a batch cannot be written: each is a mistake of the caller, found before a byte is sent.
public enum BatchWriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// RFC 2046, section 5.1.1: 1 to 70 of certain characters.
    case invalidBoundary(String)
    /// Two delimiters are the same, or a body has a line that would be read as one.
    case boundaryInUse(String)
    /// Credentials and hop-by-hop headers belong to the batch, not to its parts (OData 4.01 Part 1, section 11.7.3).
    case forbiddenHeader(String)
    /// A line break or another control character in a header, method, URL or Content-ID.
    case invalidText(String)
    case duplicateContentID(String)
    /// A body is not what its Content-Type says, and so cannot be a value in JSON.
    case invalidBody(contentType: String)

    public var description: String {
        switch self {
        case .invalidBoundary(let boundary): "“\(boundary)” cannot be the boundary of a multipart body."
        case .boundaryInUse(let boundary): "The boundary “\(boundary)” occurs elsewhere in the batch."
        case .forbiddenHeader(let name): "The header \(name) must not be sent in a part of a batch."
        case .invalidText(let place): "The \(place) holds characters that HTTP does not allow."
        case .duplicateContentID(let id): "The Content-ID \(id) occurs twice."
        case .invalidBody(let type): "A body is not the \(type) that its Content-Type says."
        }
    }
}
