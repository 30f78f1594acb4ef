import GatewayCore
import ODataWire
import Testing

/// The values that the ledger stores and compares.
struct LedgerValueTests {
    private func identified(_ url: String, _ id: String) -> WireRequest {
        WireRequest(
            method: "POST", url: url,
            headers: [
                "Repeatability-Request-ID": id, "Repeatability-First-Sent": "Wed, 25 Nov 2026 10:00:00 GMT",
                "Repeatability-Client-ID": "c",
            ])
    }

    private func unit(_ url: String) throws -> UploadUnit? {
        try UploadUnit(part: 0, requests: [identified(url, "a")], contentIDs: [nil], isChangeSet: false)
    }

    @Test func `requests for different URLs have different fingerprints`() throws {
        let first = try #require(try unit("Orders"))
        #expect(try unit("Customers")?.content != first.content)
        #expect(try unit("Orders")?.content == first.content)
    }

    @Test func `a stored outcome with further bytes is not decoded`() {
        let outcome = UnitOutcome.members([WireResponse(status: 204)])
        #expect(UnitOutcome(encoded: outcome.encoded) == outcome)
        #expect(UnitOutcome(encoded: outcome.encoded + [0]) == nil)
    }

    @Test(arguments: [200, 204, 299])
    func `each successful status is an outcome`(_ status: Int) {
        #expect(ResponseMeaning(WireResponse(status: status)) == .outcome)
    }

    @Test func `a redirection executes nothing`() {
        #expect(ResponseMeaning(WireResponse(status: 300)) == .notExecuted)
    }
}
