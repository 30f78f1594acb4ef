package import GatewayCore

/// The durable rows of the ledger. `LedgerStorageTests` is the contract of all implementations.
///
/// A storage decides by ``GatewayCore/LedgerRules`` and compares only its own clock, so that several nodes with one
/// storage agree on the ends of leases.
package protocol LedgerStorage: Sendable {
    /// Decides on all units of a request in one transaction. When this returns, the rows are durable.
    ///
    /// - Returns: One verdict for each claim. If one of them is ``GatewayCore/LedgerVerdict/wait(until:)``, no row was
    ///   inserted.
    /// - Throws: If the rows may not be durable. They may exist nevertheless.
    func claim(_ claims: [LedgerClaim], _ rules: LedgerRules) async throws(LedgerStorageError) -> [LedgerVerdict]

    /// Records the ends of attempts in one transaction. When this returns, they are durable.
    ///
    /// - Returns: Whether the ledger accepted each of them. `false`: another attempt has taken over.
    func complete(
        _ completions: [LedgerCompletion], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [Bool]

    /// Deletes rows of requests that were first sent before the days that the rules keep.
    ///
    /// - Returns: The number of deleted rows, at most `limit`.
    func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int

    /// Returns rows for the operator, the oldest first, without their outcomes.
    func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow]

    /// Returns the numbers of rows without an outcome. Throws if the storage cannot be used.
    func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int]

    /// Returns the secret for digests of credentials. The first call creates it.
    func secret() async throws(LedgerStorageError) -> [UInt8]

    /// The use of the connections, if the storage is a server.
    var poolUse: PoolUse? { get }
}

extension LedgerStorage {
    /// A storage without connections.
    package var poolUse: PoolUse? { nil }
}

/// The reason why a storage cannot answer.
package struct LedgerStorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for the operator.
    package let description: String

    package init(_ description: String) { self.description = description }
}
