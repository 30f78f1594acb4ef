import Operations
import SyncCore
import Testing
@testable import OfflineStore

/// The texts that `print(report)` shows.
@Suite struct ReportDescriptionTests {
    private func refusal(_ message: String) -> Refusal {
        Refusal(status: 422, code: "x", message: message, method: "PATCH", url: "Orders(1)")
    }

    @Test func `an upload without problems is one line`() {
        var report = UploadReport()
        (report.confirmed, report.batches) = ([1, 2, 3], 1)
        #expect("\(report)" == "3 confirmed, 0 rejected (nothing remaining)")
    }

    @Test func `a rejected operation is listed with its refusal, on one line`() {
        var report = UploadReport()
        report.rejected = [(7, refusal("Too\nlate"))]
        report.inDoubt = [9]
        report.remaining = 2
        #expect(
            "\(report)" == """
                0 confirmed, 1 rejected, 1 in doubt (2 remaining)
                  rejected: operation 7, 422 Too late (PATCH Orders(1))
                  in doubt: operation 9
                """)
    }

    @Test func `long lists are shortened`() {
        var report = UploadReport()
        report.rejected = (1...12).map { ($0, refusal("no")) }
        let lines = "\(report)".split(separator: "\n")
        #expect(lines.count == 12)
        #expect(lines.last == "  … and 2 more")
    }

    @Test func `a download has a line for each query`() {
        var report = DownloadReport()
        (report.entities, report.pages) = (4, 1)
        report.queries = [
            DownloadReport.Query(name: "Orders", mode: .delta, pages: 1, tally: .init()),
            DownloadReport.Query(name: "Customers", mode: .full, pages: 0, tally: .init()),
        ]
        report.queries[0].tally.inserted = 3
        report.queries[0].tally.removed = 1
        report.fresh = ["Countries"]
        report.skipped = ["Orders/Logs"]
        #expect(
            "\(report)" == """
                4 entities (1 page)
                  Orders: delta, 3 new, 1 removed
                  Customers: full, nothing
                  Countries: skipped, downloaded recently
                  not stored: Orders/Logs
                """)
    }

    @Test func `an undo lists the operations that were added, with the reason`() {
        let report = UndoReport(
            undone: [3, 4], dependants: [.init(operation: 4, reason: "it updates the entity of operation 3")])
        #expect(
            "\(report)" == """
                2 undone (operations 3, 4)
                  also undone: operation 4, it updates the entity of operation 3
                """)
    }
}
