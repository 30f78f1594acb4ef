public import EDM

extension TidelogError {
    /// Creates the error for an unreadable metadata document, with a recovery suggestion that matches the defect.
    ///
    /// - Parameter place: The source of the document.
    public init(_ error: CSDLError, place: String?) {
        let (message, recovery): (String, String) =
            switch error.code {
            case .notMetadata, .doctypeRefused:
                ("What the service gave as its metadata is none", "Check the service root; it ends before $metadata.")
            case .malformedXML, .malformedJSON:
                (
                    "What the service gave as its metadata is none",
                    "The document is damaged or was cut off: try again, and report it to the service if it stays so."
                )
            case .unknownVersion:
                ("What the service gave as its metadata is none", "Use a service of OData 2.0, 3.0, 4.0 or 4.01.")
            case .tooLarge, .tooDeep:
                ("The service's metadata are refused", "Ask the service for a smaller document, as one of fewer sets.")
            default:
                (
                    "Nothing of the service's metadata can be used",
                    "The document has to be corrected by the service. 'tidelog metadata' reads a file as well."
                )
            }
        self.init(.notOData, "\(message): \(error)", place: place, recovery: recovery, cause: error)
    }
}
