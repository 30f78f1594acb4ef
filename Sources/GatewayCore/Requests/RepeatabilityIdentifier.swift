package import ODataWire

/// The identification of a repeatable request.
package struct RepeatabilityIdentifier: Sendable, Hashable {
    package enum Dialect: String, Sendable, Hashable, CaseIterable {
        /// OASIS Repeatable Requests 1.0.
        case oasis
        /// The older headers `RequestID` and `RepeatabilityCreation`.
        case sap

        /// The header that states whether the request was accepted as repeatable.
        package var resultHeader: String { self == .oasis ? "Repeatability-Result" : "RepeatabilityResult" }
    }

    package let dialect: Dialect
    package let client: String
    package let request: String
    /// In milliseconds since 1970.
    package let firstSent: Int64

    private static let maximumLength = 200

    /// Reads the identification. Returns `nil` if the request is not marked as repeatable.
    ///
    /// - Throws: A refusal if the identification is incomplete or malformed.
    package init?(_ headers: HTTPHeaders) throws(RequestRefusal) {
        let oasis = headers.values("Repeatability-Request-ID")
        let sap = headers.values("RequestID")
        let sapDates = headers.values("RepeatabilityCreation")
        let oasisDates = headers.values("Repeatability-First-Sent")
        if !oasis.isEmpty || !oasisDates.isEmpty {
            dialect = .oasis
            let clients = headers.values("Repeatability-Client-ID")
            guard oasis.count == 1, oasisDates.count == 1, clients.count <= 1 else { throw Self.refusal(.oasis) }
            (request, client) = (oasis[0], clients.first ?? "")
            guard let date = HTTPDate.milliseconds(oasisDates[0]) else { throw Self.refusal(.oasis) }
            firstSent = date
        } else if !sap.isEmpty, !sapDates.isEmpty {
            dialect = .sap
            guard sap.count == 1, sapDates.count == 1, let date = HTTPDate.milliseconds(sapDates[0]) else {
                throw Self.refusal(.sap)
            }
            (request, client, firstSent) = (sap[0], "", date)
        } else {
            return nil
        }
        guard (1...Self.maximumLength).contains(request.utf8.count), client.utf8.count <= Self.maximumLength else {
            throw Self.refusal(dialect)
        }
    }

    /// The day of the first transmission (UTC), counted from 1970. It is the same in each repetition.
    package var day: Int32 {
        Int32(clamping: (firstSent >= 0 ? firstSent : firstSent - 86_399_999) / 86_400_000)
    }

    package static func refusal(
        _ dialect: Dialect, status: Int = 400, _ message: String = "The identification of the request is malformed."
    ) -> RequestRefusal {
        RequestRefusal(status, message, headers: [dialect.resultHeader: "rejected"])
    }

    /// The names of the headers that mark a request as repeatable, for bodies that cannot be read as a batch.
    package static let markers = ["repeatability-request-id", "repeatabilitycreation"]
}
