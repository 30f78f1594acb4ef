import EDM
package import ODataWire
public import Operations

extension UploadReport {
    /// A message of the service about an operation that it carried out, such as a warning.
    ///
    /// SAP services send such messages in the header `sap-message` (V2) or `sap-messages` (V4) of a successful response.
    public struct ServiceMessage: Sendable, Hashable {
        /// The severity of a message.
        public enum Severity: String, Sendable, Hashable {
            /// The operation succeeded.
            case success
            /// Further information.
            case information
            /// A problem that did not prevent the operation.
            case warning
            /// An error that did not prevent the operation.
            case error
        }

        /// The operation whose response contained the message.
        public var operation: SequenceNumber
        /// The severity; ``Severity/information`` if the service sent none.
        public var severity: Severity
        /// The service's code of the message, or an empty text.
        public var code: String
        /// The text of the message.
        public var text: String
        /// The property or entity that the message concerns, as the service writes it.
        public var target: String?
    }
}

extension UploadReport.ServiceMessage {
    /// Returns the messages in the headers of a response.
    package static func all(in headers: HTTPHeaders, about operation: SequenceNumber) -> [Self] {
        ["sap-message", "sap-messages"].flatMap { name -> [Self] in
            guard let text = headers[name], let json = try? JSONValue.parse(Array(text.utf8)) else { return [] }
            let messages = json.array ?? [json]
            return messages.flatMap { [$0] + ($0["details"]?.array ?? []) }.compactMap { Self($0, operation) }
        }
    }

    private init?(_ json: JSONValue, _ operation: SequenceNumber) {
        guard let text = json["message"]?.string, !text.isEmpty else { return nil }
        severity =
            switch json["severity"] ?? json["numericSeverity"] {
            case .string("success"), .number("1"): .success
            case .string("warning"), .number("3"): .warning
            case .string("error"), .number("4"): .error
            default: .information
            }
        code = json["code"]?.string ?? ""
        target = json["target"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        (self.operation, self.text) = (operation, text)
    }
}
