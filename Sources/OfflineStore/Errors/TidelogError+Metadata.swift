public import EDM

extension TidelogError {
    /// Creates the error for an unreadable metadata document, with a recovery suggestion that matches the defect.
    ///
    /// - Parameter place: The source of the document.
    public init(_ error: CSDLError, place: String?) {
        let (message, recovery): (String, String) =
            switch error.code {
            case .notMetadata, .doctypeRefused:
                (
                    "The response of the service is not OData metadata",
                    "Check the service root: the URL without $metadata."
                )
            case .malformedXML, .malformedJSON:
                (
                    "The response of the service is not OData metadata",
                    "Try again: the document is damaged or truncated. If the error persists, report it to the operator of the service."
                )
            case .unknownVersion:
                (
                    "The response of the service is not OData metadata",
                    "Use a service that implements OData 2.0, 3.0, 4.0 or 4.01."
                )
            case .tooLarge, .tooDeep:
                (
                    "The metadata of the service exceeds a limit",
                    "Request a smaller document, for example one with fewer entity sets."
                )
            default:
                (
                    "No element of the metadata of the service can be used",
                    "Have the document corrected by the operator of the service. 'tidelog metadata' checks a URL or a file."
                )
            }
        self.init(.notOData, "\(message): \(error)", place: place, recovery: recovery, cause: error)
    }
}
