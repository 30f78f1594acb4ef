public import OperationLog
import SyncEngine

extension InspectedStore {
    /// What was saved of a damaged log that this store stands for; nil for a store as it is on disk.
    public var salvage: RepairPlan.Salvage? { salvagedOnce.salvage }

    /// What the body makes of the store; where it comes upon damage, of what can be read of it.
    ///
    /// The second run begins anew: the body keeps nothing of the first.
    func salvaging<T>(
        _ body: (InspectedStore) async throws(TidelogError) -> T
    ) async throws(TidelogError) -> T {
        do throws(TidelogError) {
            return try await body(self)
        } catch {
            return try await body(try salvaged(after: error))
        }
    }

    /// The same for what does not wait.
    func salvagingNow<T>(_ body: (InspectedStore) throws(TidelogError) -> T) throws(TidelogError) -> T {
        do throws(TidelogError) {
            return try body(self)
        } catch {
            return try body(try salvaged(after: error))
        }
    }

    /// The same for what needs nothing but the log.
    func readable<Result>(_ body: (LogReader) throws -> Result) throws(TidelogError) -> Result {
        try salvagingNow { store throws(TidelogError) in
            do {
                return try body(try store.reader())
            } catch {
                throw TidelogError(inspecting: store, error)
            }
        }
    }

    /// The store to do it again with.
    ///
    /// - Throws: the error where it is none of damage, or where this store is that one already.
    func salvaged(after error: TidelogError) throws(TidelogError) -> InspectedStore {
        guard error.code == .damaged, !salvagedOnce.isSalvaged else { throw error }
        return try salvaged()
    }

    /// The store with a log that holds what can be read; in memory, made once.
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

    /// A store that meets no damage: this one, or where its log has some, one of what can be read, with records of the kind
    /// ``LogRepair/lostKind`` for those that are lost.
    ///
    /// Cost: the checksums of the whole log are computed.
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
