import ODataWire
import Testing

@testable import SyncCore

/// The request of a change set that an error names.
struct FailingRequestTests {
    private func find(
        _ urls: [String], contentID: String? = nil, target: String? = nil,
        details: [(id: String?, target: String?)] = []
    ) -> String? {
        let requests = urls.enumerated().map { (String($0 + 1), WireRequest(method: "PATCH", url: $1)) }
        var error = ServiceError(code: "c", message: "m", target: target)
        error.contentID = contentID
        error.details = details.map {
            var detail = ServiceError.Detail(code: "c", message: "m")
            (detail.contentID, detail.target) = ($0.id, $0.target)
            return detail
        }
        return FailingRequestMatcher(requests).find(error)
    }

    @Test func `an error names a request by its Content-ID`() {
        #expect(find(["Orders", "Orders(1)"], contentID: "2") == "2")
        #expect(find(["Orders", "Orders(1)"], contentID: "2", details: [("2", nil)]) == "2")
        #expect(find(["Orders", "Orders(1)"], details: [("1", nil)]) == "1")
    }

    @Test func `an error with two Content-IDs, or an unknown one, names no request`() {
        #expect(find(["Orders", "Orders(1)"], contentID: "2", details: [("1", nil)]) == nil)
        #expect(find(["Orders", "Orders(1)"], contentID: "9") == nil)
        #expect(
            find(["Orders", "Orders(1)"], contentID: "9", target: "Orders(1)") == nil, "the target is less certain")
    }

    @Test(arguments: [
        "Orders(1)", "/Orders(1)", "Orders(1)/", "Orders(1)/Note", "/Orders(1)/Address/Zip", "Orders%281%29/Note",
        "Orders(1)?sap-client=1", "$2", "$2/Note", "/$2",
    ])
    func `an error names a request by a target at or below its URL`(_ target: String) {
        #expect(find(["Orders(2)", "/Orders(1)?x=y"], target: target) == "2")
        #expect(find(["Orders(2)", "Orders(1)/"], details: [(nil, target)]) == "2")
    }

    @Test(arguments: ["Orders(11)", "Orders", "Customers(1)", "$3", "$22", "", "/", "//", "?"])
    func `another target names no request`(_ target: String) {
        #expect(find(["Orders(2)", "Orders(1)"], target: target) == nil)
    }

    @Test func `the longest URL determines the request`() {
        #expect(find(["Orders(1)", "Orders(1)/Items"], target: "Orders(1)/Items/Note") == "2")
        #expect(find(["Orders(1)", "Orders(1)/Items"], target: "Orders(1)/Note") == "1")
    }

    @Test func `a target of two requests names none`() {
        #expect(find(["Orders(1)", "Orders(1)"], target: "Orders(1)/Note") == nil)
        #expect(find(["Orders(1)", "Orders(2)"], details: [(nil, "Orders(1)"), (nil, "Orders(2)")]) == nil)
        #expect(find(["Orders(1)", "Orders(2)"], details: [(nil, "Orders(2)"), (nil, "Orders(2)/Note")]) == "2")
        #expect(find(["Orders(1)", "Orders(2)"], target: "Orders(1)", details: [(nil, "Orders(2)")]) == "1")
    }

    @Test func `a target of any number of slashes is read in linear time`() {
        let slashes = String(repeating: "/", count: 1 << 20)
        #expect(find(["Orders(1)"], target: slashes) == nil)
        #expect(find(["Orders(1)"], target: slashes + "Orders(1)" + slashes) == "1")
    }
}
