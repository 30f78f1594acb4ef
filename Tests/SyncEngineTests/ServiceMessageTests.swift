import ODataWire
import OfflineStore
import Operations
import SyncCore
import Testing
@testable import SyncEngine

/// Messages of SAP services in the headers of successful responses.
@Suite struct ServiceMessageTests {
    private func report(_ headers: HTTPHeaders) -> UploadReport {
        var changeSet = UploadedChangeSet(requests: [UploadedRequest(contentID: "1", operation: 7, effect: .update)])
        changeSet.outcome = .members([WireResponse(status: 204, headers: headers)])
        var report = UploadReport()
        report.addMessages(of: UploadedBatch(number: 1, changeSets: [changeSet]))
        return report
    }

    @Test func `a message of V2 is reported with its details`() {
        let report = report([
            "sap-message":
                #"{"code":"A/1","message":"Rounded","severity":"warning","target":"Amount","details":[{"code":"A/2","message":"Saved","severity":"info","target":""}]}"#
        ])
        #expect(report.messages.map(\.severity) == [.warning, .information])
        #expect(report.messages.map(\.code) == ["A/1", "A/2"])
        #expect(report.messages.map(\.text) == ["Rounded", "Saved"])
        #expect(report.messages.map(\.target) == ["Amount", nil])
        #expect(report.messages.map(\.operation) == [7, 7])
        #expect("\(report)".contains("warning: operation 7, Rounded"))
    }

    @Test func `the messages of V4 are reported`() {
        let report = report([
            "sap-messages":
                #"[{"code":"B","message":"Low stock","numericSeverity":3},{"message":"Done","numericSeverity":1}]"#
        ])
        #expect(report.messages.map(\.text) == ["Low stock", "Done"])
        #expect(report.messages.map(\.severity) == [.warning, .success])
    }

    @Test(arguments: ["", "{", "1", "[]", "[[1]]", #"{"message":1}"#, #"{"message":""}"#, #"{"details":{}}"#])
    func `a header without a message is ignored`(_ text: String) {
        #expect(report(["sap-message": text, "sap-messages": text]).messages.isEmpty)
    }
}
