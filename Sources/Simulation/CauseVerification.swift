import EDM
import Operations

/// Verifies that every new entity and value at the service belongs to an operation in the log of a device.
///
/// An effect without an operation is one that the device has forgotten, and would not be able to send again or undo.
struct CauseVerification {
    let ledger: Ledger
    /// The values before the run, by `mark property`.
    let initialValues: [String: String]

    /// Returns the violations as sentences.
    func violations(in accounts: [DeviceHistory]) -> [String] {
        let known = accounts.reduce(into: Set(initialValues.values)) { $0.formUnion($1.history.texts) }
        let effects = Set(ledger.created.keys).union(ledger.written.keys)
        return effects.subtracting(known).filter { !FieldService.isInitial($0) }.sorted().map {
            "\($0) is at the service, but no log contains its operation."
        }
    }
}
