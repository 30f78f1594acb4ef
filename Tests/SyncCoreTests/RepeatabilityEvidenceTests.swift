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

    private func answered(_ outcomes: ChangeSetOutcome...) -> [UploadedChangeSet] {
        outcomes.map { UploadedChangeSet(requests: [], outcome: $0) }
    }

    @Test func `a repeated success counts only with accepted if the service follows OASIS`() {
        let accepted = ChangeSetOutcome.members([response(201, "Accepted"), response(204)])
        let silent = ChangeSetOutcome.members([response(201)])
        let rejected = ChangeSetOutcome.members([response(201, "rejected")])
        let batch = UploadedBatch(number: 1, changeSets: answered(silent, accepted, rejected))
        #expect(ResendOutcomes(batch, requiresResult: true).answered.changeSets == answered(accepted))
        #expect(ResendOutcomes(batch).answered.changeSets == answered(silent, accepted))
    }

    @Test func `a success without the header shows that the service does not recognize repetitions`() {
        #expect(RepeatabilityEvidence(answered(.members([response(204)]))) == .unsupported)
        #expect(
            RepeatabilityEvidence(answered(.members([response(204)]), .members([response(201, "accepted")])))
                == .supported)
        #expect(RepeatabilityEvidence(answered(.failed(response(400, "rejected"), culprit: nil))) == .supported)
    }

    @Test func `an error without the header shows nothing`() {
        #expect(RepeatabilityEvidence(answered(.failed(response(502), culprit: nil), .notProcessed)) == .none)
    }
}
