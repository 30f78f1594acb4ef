import ODataWire
import Operations

extension OperationRules {
    /// Checks the custom headers. A header that cannot be sent would block every batch with the operation.
    func checkHeaders(_ operation: Operation) throws(ValidationError) {
        for header in operation.headers { try check(header.name, header.value) }
        for template in operation.headerTemplates {
            let text = template.parts.map { if case .text(let text) = $0 { text } else { "" } }.joined()
            try check(template.name, text)
        }
    }

    private func check(_ name: String, _ value: String) throws(ValidationError) {
        guard let obstacle = HTTPHeaders.obstacle(name, value) else { return }
        throw .refused(OperationRefused(.notAllowed, obstacle.description, recovery: obstacle.recovery))
    }
}
