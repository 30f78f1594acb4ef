import Operations
import SyncCore
import Views

/// Pages of a download that are in the log and folded, and that the views have not committed.
///
/// A page changes thousands of places in the views, and the next one the same: together they cost little more than one.
/// The log has each at once, so a process that ends before the commit loses nothing, and folds them again when it is opened.
struct GatheredPages {
    /// As it was before the first of them; nil where there are none.
    private(set) var fold: Fold?
    private var entities = 0

    /// Bounds what opening has to fold again after a crash, and what the views' file grows by for it.
    private static let limit = 50_000

    var isEnough: Bool { entities >= Self.limit }

    mutating func add(_ records: [Record], onto fold: Fold) {
        if self.fold == nil { self.fold = fold }
        for record in records {
            if case .downloadPage(let page) = record.body {
                entities += page.entities.count + page.unchanged.count + page.removed.count + page.left.count
            }
        }
    }
}
