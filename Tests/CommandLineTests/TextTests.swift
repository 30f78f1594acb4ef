import OfflineStore
import Operations
import Testing

@testable import tidelog_cli

@Suite struct TextTests {
    @Test func `columns are as wide as their widest cell, and numbers are aligned right`() {
        var table = TextTable([("name", .left), ("count", .right)])
        table.add(["Ada", "7"])
        table.add(["Grace Hopper", "1200"])
        #expect(
            table.lines == [
                "name          count", "------------  -----", "Ada               7", "Grace Hopper   1200",
            ])
    }

    @Test func `a line of a table has no trailing blanks`() {
        var table = TextTable([("a", .left), ("b", .left)])
        table.add(["x"])
        #expect(table.lines.last == "x")
    }

    @Test func `control characters are escaped`() {
        #expect(oneLine("a\nb\t\u{1B}[31m\u{202E}") == #"a\nb\t\u{1b}[31m\u{202e}"#)
    }

    @Test func `an error is a sentence with its location and the next step`() {
        let error = TidelogError(.locked, "The store is locked.", place: ".tidelog/LOCK", recovery: "Try again.")
        #expect(ErrorReport(error).line == "The store is locked (.tidelog/LOCK). Try again.")
        #expect(ErrorReport(error).status == .failed)
    }

    @Test func `damage has a distinct exit code, also in a line of input`() {
        let error = TidelogError(.damaged, "The log is damaged.")
        #expect(ErrorReport(error).status == .damage)
        #expect(ErrorReport(LineFailure(file: "f", line: 3, cause: error)).status == .damage)
        #expect(ErrorReport(LineFailure(file: "f", line: 3, cause: error)).line == "f, line 3: The log is damaged.")
    }

    @Test func `rejected operations and operations in doubt are listed with the service's message`() {
        var report = UploadReport()
        report.batches = 1
        report.bytesSent = 10
        report.confirmed = [3]
        report.rejected = [
            (4, .init(status: 400, code: "X", message: "No\nthanks", method: "POST", url: "Orders"))
        ]
        report.inDoubt = [5]
        report.remaining = 2
        #expect(
            UploadText(report: report).lines.prefix(3) == [
                "1 confirmed, 1 rejected, 1 in doubt (1 batch, 10 bytes sent).",
                "Operation 4 was rejected: 400 No\\nthanks",
                "Operation 5 is in doubt: it is not known whether it took effect.",
            ])
        #expect(
            UploadText(report: report).json
                == #"{"batches":1,"bytesSent":10,"confirmed":[3],"rejected":[{"sequence":4,"status":400,"code":"X","message":"No\nthanks"}],"inDoubt":[5],"remaining":2}"#
        )
    }
}
