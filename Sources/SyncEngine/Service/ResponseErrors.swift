package import ODataWire
package import OfflineStore
import SyncCore
import Transport

extension WireResponse {
    /// Throws an error with the service's message if the status is not a success.
    package func requireSuccess(_ method: String, _ url: String) throws(TidelogError) {
        guard !isSuccess else { return }
        let place = "\(method) \(url.prefix { $0 != "?" })"
        let words = ServiceErrorReader.read(body).map { ": \($0.message)" } ?? ""
        switch status {
        case 401, 403:
            throw TidelogError(
                .unauthorized, "The service denied access with status \(status)\(words).", place: place,
                recovery: "Check the credentials.", cause: UnsuccessfulResponse(self))
        case 404:
            throw TidelogError(
                .service(status: 404), "The resource does not exist at the service (404)\(words).", place: place,
                recovery: "Check the URL.", cause: UnsuccessfulResponse(self))
        case 301, 302, 303, 307, 308:
            let mayBeDone = FailureClass.mayHaveBeenExecuted(status: status) && method != "GET" && method != "HEAD"
            let target = headers["Location"].map { " to \(URLText.withoutSecrets($0))" } ?? ""
            throw TidelogError(
                .service(status: status),
                "The service redirected the request\(target) (\(status)); it "
                    + (mayBeDone ? "may have been executed." : "was not executed."), place: place,
                recovery: mayBeDone
                    ? "Upload again, which determines whether the request took effect; without a store, read the entity before you repeat it."
                    : "Read the metadata again ('tidelog refresh-metadata'): the store then uses the new address "
                        + "if it has the same origin. Otherwise create a store for the new address.",
                cause: UnsuccessfulResponse(self))
        case 406, 415:
            throw TidelogError(
                .service(status: status), "The service responded with status \(status)\(words).",
                place: place,
                recovery:
                    "If the service has only Atom (V2, V3), set payloadFormat to atom ('tidelog service "
                    + "payloadFormat=atom').", cause: UnsuccessfulResponse(self))
        default:
            throw TidelogError(
                .service(status: status), "The service responded with status \(status)\(words).",
                place: place, cause: UnsuccessfulResponse(self))
        }
    }
}

extension TidelogError {
    init(_ error: TransportError) {
        switch error.code {
        case .invalidRequest: self.init(.invalidRequest, error.message, cause: error)
        case .libraryMissing: self.init(.unsupported, error.message, cause: error)
        case .errorTrailer:
            self.init(
                .service(status: 200), error.message,
                recovery: "Try again; no part of the response was stored, and no entity was removed.",
                cause: ErrorTrailer(error: error))
        case .protocolViolation: self.init(.notOData, error.message, cause: error)
        case .tooLarge:
            self.init(
                .tooLarge, error.message,
                recovery: "Request less data at once (a smaller page, $select, $filter), or raise the limits.",
                cause: error)
        case .cancelled:
            self.init(
                .cancelled, error.message, recovery: "Start the upload or download again; no data is lost.",
                cause: error)
        default:
            self.init(
                .unreachable, error.message, recovery: "Try again when the service can be reached; no data is lost.",
                cause: error)
        }
    }
}
