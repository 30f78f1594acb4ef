import OfflineStore
import Operations
import SyncCore

extension DownloadReport {
    mutating func add(_ download: QueryDownload, _ error: TidelogError?) {
        pages += download.pages
        entities += download.tally.entities
        skipped.formUnion(download.skipped)
        omittedExpansions.formUnion(download.omittedExpansions)
        quarantined += download.quarantined
        repeated += download.repeated
        unidentifiedRemovals += download.unidentifiedRemovals
        if let error { return failures.append(Failure(name: download.query.name, error: error)) }
        queries.append(
            Query(
                name: download.query.name, mode: download.run.mode, pages: download.pages, tally: download.tally))
    }
}
