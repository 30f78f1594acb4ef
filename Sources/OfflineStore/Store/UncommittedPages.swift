import Operations
import SyncCore
import Views

/// Download pages that are logged and folded, but not committed to the views yet.
///
/// Successive pages change the same thousands of rows in the views, so one commit for several costs little more than
/// for one. Each page is logged at once, so if the process ends before the commit, nothing is lost and the pages are
/// folded again at the next open.
struct UncommittedPages {
    /// The fold before the first page; nil if there are none.
    private(set) var fold: Fold?
    private var entities = 0

    /// The number of entities that bounds the work at the next open after a crash, and the growth of the views' file.
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
