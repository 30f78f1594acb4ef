internal import EDM
internal import ODataWire

extension ServiceView {
    /// Whether the service speaks nothing but Atom and XML.
    var usesAtom: Bool { isLegacy && capabilities.v2Format == .atom }

    /// Rejects a request for a format that the service does not have.
    func requireFormat(accepted request: WireRequest) throws(SandboxError) {
        guard usesAtom, !capabilities.acceptsOtherFormats, let accept = request.headers["Accept"]?.lowercased()
        else { return }
        guard !accept.contains("json") || ["atom", "xml", "*/*"].contains(where: accept.contains) else {
            throw SandboxError(415, .badRequest, "The service has only Atom and XML, not \(accept).")
        }
    }

    /// Rejects a body in a format that the service does not have.
    func requireFormat(sent request: WireRequest) throws(SandboxError) {
        guard usesAtom, !request.body.isEmpty else { return }
        let type = request.headers["Content-Type"]?.split(separator: ";").first?.lowercased() ?? ""
        guard type == "application/atom+xml" || type == "application/xml" else {
            throw SandboxError(415, .badRequest, "The service reads only Atom and XML, not \(type).")
        }
    }
}
