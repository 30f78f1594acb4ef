import OfflineStore
package import OperationLog

extension InspectedStore {
    /// The salvage report of the damaged log that this store replaces; nil for a store as it is on disk.
    package var salvage: RepairPlan.Salvage? { salvagedOnce.salvage }

    /// Returns the result of the body on the store, or after damage on its readable part.
    ///
    /// The body runs again from the beginning in the second case.
    func salvaging<T>(
        _ body: (InspectedStore) async throws(TidelogError) -> T
    ) async throws(TidelogError) -> T {
        do throws(TidelogError) {
            return try await body(self)
        } catch {
            return try await body(try salvaged(after: error))
        }
    }

    /// The synchronous form of ``salvaging(_:)``.
    func salvagingNow<T>(_ body: (InspectedStore) throws(TidelogError) -> T) throws(TidelogError) -> T {
        do throws(TidelogError) {
            return try body(self)
        } catch {
            return try body(try salvaged(after: error))
        }
    }

    /// The form of ``salvagingNow(_:)`` for a body that needs only the log.
    func readable<Result>(_ body: (LogReader) throws -> Result) throws(TidelogError) -> Result {
        try salvagingNow { store throws(TidelogError) in
            do {
                return try body(try store.reader())
            } catch {
                throw TidelogError(inspecting: store, error)
            }
        }
    }

    /// Returns the store for the second run.
    ///
    /// - Throws: The error itself if it is no damage, or if this store is already the salvaged one.
    func salvaged(after error: TidelogError) throws(TidelogError) -> InspectedStore {
        guard error.code == .damaged, !salvagedOnce.isSalvaged else { throw error }
        return try salvaged()
    }

    /// Returns a store with the readable part of the log, in memory. It is built once.
    func salvaged() throws(TidelogError) -> InspectedStore {
        try salvagedOnce.store { () throws(TidelogError) in
            do throws(LogError) {
                let (disk, salvage) = try LogRepair(
                    directory: files.log, keys: keys, check: LogHistory.undecodable, fileSystem: disk
                ).inMemory()
                return InspectedStore(self, on: disk, salvage)
            } catch {
                throw TidelogError(error)
            }
        }
    }

    /// Returns a store without damage: this one, or one with the readable part of its log, in which records of the kind
    /// ``LogRepair/lostKind`` replace lost ones.
    ///
    /// Cost: the checksums of the whole log are verified.
    func sound() throws(TidelogError) -> InspectedStore {
        guard !salvagedOnce.isSalvaged else { return self }
        do throws(LogError) {
            do throws(LogError) {
                if try history.verify(depth: .fast).isSound { return self }
            } catch {
                guard case .damaged = error else { throw error }
            }
        } catch {
            throw TidelogError(error)
        }
        return try salvaged()
    }
}
