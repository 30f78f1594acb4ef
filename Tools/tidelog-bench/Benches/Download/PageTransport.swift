internal import Foundation
internal import HTTPTypes
internal import Transport

/// A service that reads a directory. The response to a GET is the file named like the last component of the URL, or
/// `Changed` if the URL has options, in chunks like those of a network. The cost of a network is not included.
struct PageTransport: HTTPTransport {
    let directory: String

    private static let chunkSize = 65_536

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let (response, file) = answer(request)
        return (response, Array(file?.readDataToEndOfFile() ?? Data()))
    }

    func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        let (response, file) = answer(request)
        return (
            response,
            ResponseBody {
                do {
                    let chunk = try file?.read(upToCount: Self.chunkSize) ?? Data()
                    return .success(chunk.isEmpty ? nil : Array(chunk))
                } catch {
                    return .failure(TransportError(.other, "\(error)", mayHaveBeenSent: true))
                }
            }
        )
    }

    private func answer(_ request: HTTPRequest) -> (HTTPResponse, FileHandle?) {
        let target = (request.path ?? "").split(separator: "/").last ?? ""
        let name = target.contains("?") ? "Changed" : String(target)
        guard let file = FileHandle(forReadingAtPath: directory + "/" + name) else {
            return (HTTPResponse(status: .notFound), nil)
        }
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/json;odata.metadata=minimal"
        response.headerFields[HTTPField.Name("OData-Version") ?? .date] = "4.0"
        return (response, file)
    }
}
