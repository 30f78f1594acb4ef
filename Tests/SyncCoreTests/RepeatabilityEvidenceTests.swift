import ODataWire
import SyncCore
import Testing

/// RR-05: `Repeatability-Result` in the response to a repeatable request, also of a success.
@Suite struct RepeatabilityEvidenceTests {
    private func response(_ status: Int, _ result: String? = nil) -> WireResponse {
        var response = WireResponse(status: status, headers: .empty, body: [])
        response.headers["Repeatability-Result"] = result
        return response
    }

    @Test func `a repeated success counts only with accepted if the service follows OASIS`() {
        let accepted = ChangeSetOutcome.members([response(201, "Accepted"), response(204)])
        let silent = ChangeSetOutcome.members([response(201)])
        let rejected = ChangeSetOutcome.members([response(201, "rejected")])
        #expect(ResendOutcomes([silent, accepted, rejected], requiresResult: true).places == [1])
        #expect(ResendOutcomes([silent, accepted, rejected]).places == [0, 1])
    }

    @Test func `a success without the header shows that the service does not recognize repetitions`() {
        #expect(RepeatabilityEvidence([.members([response(204)])]) == .unsupported)
        #expect(
            RepeatabilityEvidence([.members([response(204)]), .members([response(201, "accepted")])]) == .supported)
        #expect(RepeatabilityEvidence([.failed(response(400, "rejected"), culprit: nil)]) == .supported)
    }

    @Test func `an error without the header shows nothing`() {
        #expect(RepeatabilityEvidence([.failed(response(502), culprit: nil), .notProcessed]) == .none)
    }
}
