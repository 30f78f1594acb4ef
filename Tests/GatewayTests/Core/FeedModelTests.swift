import GatewayCore
import SeededRandom
import Testing

/// Random histories of a service, and clients that follow deltas at their own pace.
struct FeedModelTests {
    /// A client: its rows, and the generation and place that its token contains.
    private struct Client {
        var rows: [String: UInt8] = [:]
        var token: FeedToken?
    }

    @Test func `a client that follows deltas has the rows of the service, whatever the order of refreshes and pages`() {
        let seed = UInt64.testSeed()
        for run in 0..<400 {
            if let difference = Self.run(seed &+ UInt64(run)) {
                Issue.record("seed \(seed &+ UInt64(run)): \(difference)")
                return
            }
        }
    }

    private static func run(_ seed: UInt64) -> String? {
        var random = SeededRandom(seed: seed)
        var service: [String: UInt8] = [:]
        var versions = VersionedRows()
        var head = FeedHead(id: 1, salt: [1])
        var clients = [Client](repeating: Client(), count: 3)
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                for _ in 0..<Int.random(in: 0..<4, using: &random) {
                    let key = "(\(Int.random(in: 0..<12, using: &random)))"
                    service[key] = Bool.random(using: &random) ? UInt8.random(in: 0..<4, using: &random) : nil
                }
            case 4..<7: refresh(service, &versions, &head, &random)
            case 7:
                head.tokensFrom = max(head.tokensFrom, head.generation - Int64.random(in: 0..<4, using: &random))
                versions.forget(before: head.tokensFrom)
            default:
                guard head.generation > 0 else { continue }
                let index = Int.random(in: clients.indices, using: &random)
                read(&clients[index], versions, head, pages: Int.random(in: 1..<4, using: &random), &random)
            }
        }
        refresh(service, &versions, &head, &random)
        for index in clients.indices {
            read(&clients[index], versions, head, pages: .max, &random)
            // The pages were of the generation at the beginning.
            read(&clients[index], versions, head, pages: .max, &random)
            if clients[index].rows != service { return "client \(index) has \(clients[index].rows), not \(service)" }
        }
        return nil
    }

    /// Reads the service completely, in random order and with rows twice.
    private static func refresh(
        _ service: [String: UInt8], _ versions: inout VersionedRows, _ head: inout FeedHead,
        _ random: inout SeededRandom
    ) {
        var run = RefreshRun(base: versions.digests)
        var rows = service.sorted { $0.key < $1.key }.shuffled(using: &random)
        if let first = rows.first { rows.append(first) }
        for (key, value) in rows { run.add(FeedRow(key: key, digest: RowDigest([value]), body: [value])) }
        let changes = run.changes.map(FeedChange.row) + run.missing.map { .removed(key: $0, .deleted) }
        guard !changes.isEmpty || head.generation == 0 else { return }
        head.generation += 1
        if head.tokensFrom == 0 { head.tokensFrom = 1 }
        versions.publish(changes, generation: head.generation)
    }

    /// Reads some pages as the gateway answers them. The next read continues at the link.
    private static func read(
        _ client: inout Client, _ versions: VersionedRows, _ head: FeedHead, pages: Int, _ random: inout SeededRandom
    ) {
        for _ in 0..<min(pages, 100) {
            if let token = client.token, !token.isValid(for: head) { client = Client() }
            let limit = Int.random(in: 1..<4, using: &random)
            let generation: Int64
            let items: [FeedItem]
            let place: (FeedItem) -> FeedToken.ReadingPosition
            switch client.token?.place {
            case nil:
                client.rows = [:]
                generation = head.generation
                items = versions.rows(at: generation, after: nil, limit: limit + 1)
                place = { .rows(after: $0.key) }
            case .rows(let key):
                generation = client.token?.generation ?? 0
                items = versions.rows(at: generation, after: key, limit: limit + 1)
                place = { .rows(after: $0.key) }
            case .delta:
                let start = client.token?.generation ?? 0
                generation = head.generation
                items = versions.changes(from: start, to: generation, after: nil, limit: limit + 1)
                place = { .changes(start: start, after: FeedPosition(since: $0.since, key: $0.key)) }
            case .changes(let start, let position):
                generation = client.token?.generation ?? 0
                items = versions.changes(from: start, to: generation, after: position, limit: limit + 1)
                place = { .changes(start: start, after: FeedPosition(since: $0.since, key: $0.key)) }
            }
            for item in items.prefix(limit) {
                switch item.change {
                case .row(let row): client.rows[row.key] = row.body[0]
                case .removed(let key, _): client.rows[key] = nil
                }
            }
            let isLast = items.count <= limit
            client.token = FeedToken(
                feed: 1, salt: [1], generation: generation, place: isLast ? .delta : place(items[limit - 1]))
            if isLast { return }
        }
    }
}
