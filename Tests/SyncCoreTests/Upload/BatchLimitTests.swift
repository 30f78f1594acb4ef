import EDM
import ODataWire
import Operations
import Testing

@testable import SyncCore

/// The limits of a batch, and its parts.
struct BatchLimitTests {
    private let store: TestStore

    init() throws { store = try TestStore() }

    private func changeSet(_ number: Int, requests: Int = 1) -> PlannedChangeSet {
        PlannedChangeSet(
            requests: (0..<requests).map { _ in
                PlannedRequest(
                    contentID: "1", operation: UInt64(number),
                    modification: DataModification(.delete(.url("Orders(1)"))), creates: nil)
            })
    }

    /// Returns how many of the change sets a batch takes.
    private func taken(_ changeSets: [PlannedChangeSet], requests: Int = .max, bytes: Int? = nil) throws -> [Bool] {
        var size = try BatchSize(
            resolver: EntityResolver(storage: store.state, model: store.model), requestLimit: requests,
            byteLimit: bytes, service: ServiceOptions())
        return changeSets.map { size.takes($0) }
    }

    // MARK: Size

    @Test func `a batch takes change sets up to its number of requests`() throws {
        let sets = [changeSet(1, requests: 2), changeSet(2), changeSet(3)]
        #expect(try taken(sets, requests: 4) == [true, true, true])
        #expect(try taken(sets, requests: 3) == [true, true, false])
        #expect(try taken(sets, requests: 2) == [true, false, false])
    }

    @Test func `the first change set is taken whatever its size, and nothing after a refused one`() throws {
        let large = changeSet(2, requests: 9)
        #expect(try taken([large, changeSet(1)], requests: 3) == [true, false])
        #expect(try taken([changeSet(1), large, changeSet(3)], requests: 3) == [true, false, false])
        #expect(try taken([changeSet(1), changeSet(2)], bytes: 1) == [true, false])
    }

    @Test func `the length of a batch is the sum of its requests`() throws {
        let sets = (1...4).map { changeSet($0) }
        func least(_ count: Int) throws -> Int {
            try #require(try (1...4_000).first { try taken(sets, bytes: $0).count { $0 } >= count })
        }
        let two = try least(2)
        #expect(try least(3) * 2 == two * 3)
        #expect(try least(4) == two * 2)
        #expect(two / 2 > "DELETE Orders(1) HTTP/1.1".utf8.count)
    }

    // MARK: Parts

    private func plan(_ count: Int, streams: Set<Int> = []) -> UploadPlan {
        UploadPlan(changeSets: (1...count).map { changeSet($0) })
    }

    private func numbers(_ parts: [UploadPlan]) -> [[UInt64]] { parts.map { $0.changeSets.flatMap(\.operations) } }

    @Test func `suspects are sent in parts of half their number, apart from the others`() {
        #expect(numbers(plan(5).parts(halving: [])) == [[1, 2, 3, 4, 5]])
        #expect(numbers(plan(5).parts(halving: [3])) == [[1, 2], [3], [4, 5]])
        #expect(numbers(plan(5).parts(halving: [2, 3])) == [[1], [2], [3], [4, 5]])
        #expect(numbers(plan(5).parts(halving: [1, 2, 3, 4])) == [[1, 2], [3, 4], [5]])
        #expect(numbers(plan(5).parts(halving: [1, 2, 3, 4, 5])) == [[1, 2], [3, 4], [5]])
        #expect(numbers(plan(4).parts(halving: [9])) == [[1, 2, 3, 4]])
    }

    @Test func `the halves of a plan are its change sets in order`() {
        #expect(numbers(plan(5).halves) == [[1, 2], [3, 4, 5]])
        #expect(numbers(plan(2).halves) == [[1], [2]])
        #expect(numbers(plan(3).singleRequests) == [[1], [2], [3]])
    }

    // MARK: Headers

    @Test(arguments: [
        ("plain", "plain"), ("a b%", "a b%"), ("\u{0F}", "%0F"), ("\u{10}", "%10"), ("\u{7F}", "%7F"),
        ("ä%", "%C3%A4%25"),
        ("\r\nX: y", "%0D%0AX: y"), ("~ \u{1F}", "~ %1F"),
    ])
    func `no key ends a header`(_ key: String, _ text: String) {
        #expect(HeaderText.key(.string(key), version: .v4) == text)
    }

    // MARK: Trials of references

    private func batch() -> UploadedBatch {
        var requests = (1...2).map {
            UploadedRequest(contentID: "\($0)", operation: UInt64($0), effect: .create)
        }
        requests[1].references.hasContentIDInBody = true
        return UploadedBatch(number: 1, changeSets: [UploadedChangeSet(requests: requests)])
    }

    private var refusal: [ChangeSetOutcome] { [.failed(WireResponse(status: 400), culprit: nil)] }

    private func outcome(_ operation: SequenceNumber, _ result: BatchAnswered.Result) -> BatchAnswered.Outcome {
        BatchAnswered.Outcome(operation: operation, result: result)
    }

    private func options(_ references: ServiceOptions.ContentIDReferences = .standard) -> ServiceOptions {
        ServiceOptions(contentIDReferences: references)
    }

    @Test func `a refused reference is tried in a simpler form, and proven by its acceptance`() {
        var probe = ReferenceFormProbe()
        #expect(probe.limited(options()) == options())
        #expect(probe.withdrawn(batch().answered(refusal), options()) == [1: .notProcessed, 2: .notProcessed])
        #expect(probe.limited(options()).contentIDReferences == .urlsOnly)
        #expect(probe.count == 1)
        #expect(probe.proven(by: [outcome(1, .confirmed(images: [])), outcome(9, .inDoubt("other"))]) == nil)
        #expect(probe.proven(by: [outcome(2, .notProcessed)]) == nil)
        #expect(probe.limited(options()).contentIDReferences == .urlsOnly, "the trial goes on")
        #expect(probe.proven(by: [outcome(2, .confirmed(images: []))]) == .urlsOnly)
        #expect(probe.limited(options()) == options())
        #expect(probe.count == 2)
    }

    @Test(arguments: 0..<3)
    func `a trial that fails is not repeated`(_ place: Int) {
        let refused = Refusal(status: 400, code: "", message: "", method: "", url: "")
        let results: [BatchAnswered.Result] = [.rejected(refused), .inDoubt("cut"), .deferred(refused, attempts: 1)]
        var probe = ReferenceFormProbe()
        _ = probe.withdrawn(batch().answered(refusal), options())
        #expect(probe.proven(by: [outcome(1, results[place])]) == nil)
        #expect(probe.count == 2)
        #expect(probe.limited(options()) == options())
        #expect(probe.withdrawn(batch().answered(refusal), options()) == [:])
        #expect(probe.count == 2)
        let again = probe.giveUp()
        #expect(!again)
    }

    @Test func `a form that the service does not use is not tried`() {
        var probe = ReferenceFormProbe()
        #expect(probe.withdrawn(batch().answered(refusal), options(.urlsOnly)) == [:])
        #expect(probe.withdrawn(batch().answered(refusal), options(.none)) == [:])
        #expect(probe.withdrawn(batch().answered([.members([])]), options()) == [:])
        #expect(probe.count == 0)
    }
}
