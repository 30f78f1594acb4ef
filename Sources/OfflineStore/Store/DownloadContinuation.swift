import Operations
import SyncCore

/// The links with which downloads of a query continue, as far as entities were not quarantined.
struct DownloadContinuation {
    /// The state of the query, or nil if no entity of it was quarantined.
    private let quarantining: QueryState?

    init(of query: DefiningQuery, in state: WorkingSet) throws {
        let known = try state.bookkeeping.queries().first { $0.query.name == query.name }
        quarantining = try known.flatMap { try state.quarantine(of: $0).isEmpty ? nil : $0 }
    }

    /// Returns the link to the next page after which an interrupted download may continue. No later page of a delta
    /// repeats a quarantined entity.
    func next(_ link: String?) -> String? { quarantining?.isDelta == true ? nil : link }

    /// Returns the delta link for the next download. If an entity was quarantined, the next download has to read it
    /// again: with the delta link that this one began with, or in full after a full download.
    func deltaLink(_ new: String?) -> String? {
        guard let quarantining else { return new }
        return quarantining.isDelta ? quarantining.deltaLink?.url : nil
    }
}
