import EDM
package import ODataWire
import Operations
package import SyncCore

/// Adds the headers by which a service recognizes a repeated request.
///
/// Each request of a batch has its own identifier, so that it can be repeated in any batch.
package struct RepeatabilityHeaders {
    let form: ServiceOptions.Repeatability
    /// The permanent identifier of the store.
    let client: String
    let environment: SyncEnvironment

    static let names: Set<String> = [
        "Repeatability-Request-ID", "Repeatability-First-Sent", "Repeatability-Client-ID", "RequestID",
        "RepeatabilityCreation",
    ]

    package init(form: ServiceOptions.Repeatability, client: String, environment: SyncEnvironment) {
        self.form = form
        self.client = client
        self.environment = environment
    }

    /// Adds a unique identifier to each request.
    package func mark(_ batch: inout UploadedBatch) {
        guard form != .none, let now = HTTPDate.text(millisecondsSince1970: environment.now()) else { return }
        batch.mapWires { $0.wire.map { mark($0, firstSent: now) } }
    }

    private func mark(_ request: WireRequest, firstSent: String) -> WireRequest {
        var request = request
        let identifier = "\(GuidValue(high: environment.random(), low: environment.random()).asRandom)"
        switch form {
        case .none: break
        case .oasis:
            request.headers["Repeatability-Request-ID"] = identifier
            request.headers["Repeatability-First-Sent"] = firstSent
            request.headers["Repeatability-Client-ID"] = client
        case .sap:
            request.headers["RequestID"] = identifier.split(separator: "-").joined().uppercased()
            request.headers["RepeatabilityCreation"] = firstSent
        }
        return request
    }
}

extension WireRequest {
    /// Whether the request has an identifier of OASIS Repeatable Requests.
    package var isRepeatable: Bool { headers["Repeatability-Request-ID"] != nil }
}

extension GuidValue {
    /// The same value with the bits of a random GUID (RFC 9562, version 4).
    fileprivate var asRandom: GuidValue {
        GuidValue(
            high: (high & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000, low: (low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000)
    }
}
