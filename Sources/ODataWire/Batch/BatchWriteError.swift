/// The reason why a batch cannot be written.
///
/// Each case is a mistake of the caller, which is detected before a byte is sent.
package enum BatchWriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The boundary is invalid. RFC 2046, section 5.1.1, requires 1 to 70 characters of a certain set.
    case invalidBoundary(String)
    /// Two boundaries are equal, or a body has a line that would be read as a delimiter.
    case boundaryInUse(String)
    /// The header may occur on the batch request but not in its parts: credentials and hop-by-hop headers (OData 4.01
    /// Part 1, section 11.7.3).
    case forbiddenHeader(String)
    /// A header, method, URL or Content-ID contains a line break or other control character.
    case invalidText(String)
    case duplicateContentID(String)
    /// A body does not match its Content-Type and therefore cannot be written as a JSON value.
    case invalidBody(contentType: String)

    package var description: String {
        switch self {
        case .invalidBoundary(let boundary): "“\(boundary)” cannot be the boundary of a multipart body."
        case .boundaryInUse(let boundary): "The boundary “\(boundary)” occurs elsewhere in the batch."
        case .forbiddenHeader(let name): "The header \(name) must not be sent in a part of a batch."
        case .invalidText(let place): "The \(place) contains characters that HTTP does not allow."
        case .duplicateContentID(let id): "The Content-ID \(id) occurs twice."
        case .invalidBody(let type): "A body is not \(type), although its Content-Type is."
        }
    }
}
