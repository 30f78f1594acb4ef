import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SeededRandom
import SyncCore

/// A simulation of cut connections between clients and a service that generates the keys and supports no repeatability.
/// All choices are drawn from one seed.
///
/// After each cut, every create that a client considers confirmed must exist on the service exactly once, counted by
/// equal contents.
package struct CutSimulation {
    /// The content that is created when the connection is cut.
    package enum Scenario: String, Sendable, Hashable, CaseIterable {
        /// One entity with unique values.
        case unique
        /// One entity with unique values, and an entity that is linked to it, in one change set.
        case linked
        /// Two equal entities from the same client in one batch.
        case twins
        /// Two equal entities, of which the second is created while the first is in doubt.
        case laterTwin
        /// An entity with common values that a different client creates as well at the same time.
        case foreignTwin
        /// An entity with unique values that a different client creates as well: the case in which evidence can be
        /// misleading.
        case stranger

        /// The contents for which the engine guarantees neither loss nor duplication.
        static let promised = allCases.filter { $0 != .stranger }
    }

    package struct Outcome: Sendable {
        /// The cuts under the policy `evidence`.
        package var cuts: [Scenario: Int] = [:]
        /// The number of cuts under other policies.
        package var others = 0
        /// The number of ``cuts`` that were resolved without the user.
        package var settled: [Scenario: Int] = [:]
        package var violations: [String] = []
    }

    let seed: UInt64
    let cuts: Int
    /// Whether to include cases that no client can prevent, to verify that they are detected.
    let drawsResidue: Bool

    package init(seed: UInt64, cuts: Int, drawsResidue: Bool = false) {
        self.seed = seed
        self.cuts = cuts
        self.drawsResidue = drawsResidue
    }

    package func run() async -> Outcome {
        var run = Run(seed: seed, drawsResidue: drawsResidue)
        do {
            try await run.play(cuts)
        } catch {
            run.outcome.violations.append("seed \(seed): \(error)")
        }
        return run.outcome
    }

    private struct Run {
        let seed: UInt64
        let drawsResidue: Bool
        var random: SeededRandom
        let world: CutService
        let root: String
        let options: ServiceOptions
        var clients: [CutClient] = []
        var outcome = Outcome()
        var names = 0

        init(seed: UInt64, drawsResidue: Bool) {
            self.seed = seed
            self.drawsResidue = drawsResidue
            random = SeededRandom(seed: seed)
            let isV4 = random.chance(50)
            root = FieldService.origin + (isV4 ? "/v4/" : "/v2/")
            var options = ServiceOptions()
            if isV4, random.chance(30) { options.batchFormat = .json }
            if random.chance(15) { options.supportsBatch = false }
            if !drawsResidue, random.chance(10) { options.doubts = [.ask, .correlation][random.below(2)] }
            self.options = options
            var sandbox = FieldService.seeded
            if random.chance(30) { sandbox.options.pageSize = 2 }
            sandbox.options.capabilities.batch = options.supportsBatch
            world = CutService(sandbox, seed: seed)
        }

        mutating func play(_ cuts: Int) async throws {
            for number in 0..<2 {
                clients.append(try await CutClient(world, number: number, root: root, options: options))
            }
            for _ in 0..<cuts where outcome.violations.isEmpty { try await cut() }
            for client in clients { await client.close() }
        }

        private mutating func cut() async throws {
            let contents = drawsResidue ? Scenario.allCases : Scenario.promised
            let content = contents[random.below(contents.count)]
            let cuts = drawsResidue ? ConnectionCut.allCases : ConnectionCut.allCases.filter { $0 != .muchTooLate }
            let cut = cuts[random.below(cuts.count)]
            let (client, other) = (clients[random.below(2)], clients[0])
            let stranger = client === other ? clients[1] : other
            let drafts = drafts(content)
            let second = content == .laterTwin || content == .foreignTwin || content == .stranger ? drafts : []
            try await client.create(drafts, asChangeSet: content == .linked)
            let delay = cut == .muchTooLate ? 500 + Int64(random.below(3_000)) : 1 + Int64(random.below(110))
            world.cut(cut, delay: delay)
            _ = try await client.upload()
            if content == .laterTwin { try await client.create(second, asChangeSet: false) }
            if content == .foreignTwin || content == .stranger {
                try await stranger.create(second, asChangeSet: false)
                _ = try await stranger.upload()
            }
            if random.chance(10) { try await client.restart() }
            if random.chance(10) { world.clock.advance(milliseconds: -Int64(random.below(3_600_000))) }
            let isBrought = random.chance(10)
            if isBrought { try await client.download() }
            for pause in [0, random.below(60), 60, 300, 3_600] {
                world.pass(seconds: Int64(pause))
                _ = try await client.upload()
            }
            let isSettled = try await client.doubts.isEmpty
            if options.doubts == .evidence {
                outcome.cuts[content, default: 0] += 1
                if isSettled { outcome.settled[content, default: 0] += 1 }
            } else {
                outcome.others += 1
            }
            if !isSettled { try await resolveInDoubt(client) }
            world.pass(seconds: 600)
            for client in clients { try await client.download() }
            try await check("\(content), \(cut)\(isBrought ? ", downloaded" : "")")
        }

        // MARK: Contents

        private mutating func drafts(_ content: Scenario) -> [EntityDraft] {
            let set = ["Customers", "Labels"][random.below(2)]
            func draft(_ number: Int, _ set: String, _ mark: String) -> EntityDraft {
                EntityDraft(number: number, set: set, type: FieldService.type(of: set), values: ["Mark": .string(mark)])
            }
            switch content {
            case .unique, .laterTwin, .stranger: return [draft(0, set, unique())]
            case .twins:
                let mark = unique()
                return [draft(0, set, mark), draft(1, set, mark)]
            case .foreignTwin: return [draft(0, set, ["a", "new", "Visit"][random.below(3)])]
            case .linked:
                var order = draft(1, "Orders", random.chance(50) ? "new" : unique())
                order.bindings = [BindingDraft(navigation: "Customer", targets: [.draft(0)])]
                return [draft(0, "Customers", unique()), order]
            }
        }

        private mutating func unique() -> String {
            names += 1
            let letters = (0..<6).map { _ in String("bcdfghklmnprstvz".randomElement(using: &random) ?? "x") }.joined()
            return "\(letters) \(names)"
        }

        // MARK: The user

        /// Resolves doubts as the user would: of each content, the excess on the service over the confirmed creations
        /// must be the entities in doubt.
        private mutating func resolveInDoubt(_ client: CutClient) async throws {
            for pending in try await client.doubts {
                guard try await client.doubts.contains(where: { $0.sequence == pending.sequence }) else { continue }
                let marks = client.created[pending.sequence] ?? []
                let (there, done) = (counts(), try await confirmed())
                let isThere = marks.contains { there[$0, default: 0] > done[$0, default: 0] }
                _ = try await client.store.doubts.resolveInDoubt(pending.sequence, as: isThere ? .tookEffect : .resend)
            }
            _ = try await client.upload()
        }

        // MARK: Invariants

        private func counts() -> [String: Int] {
            FieldService.sets.flatMap { world.contents(of: $0) }.reduce(into: [:]) { counts, values in
                if let mark = values["Mark"]?.stringValue { counts[mark, default: 0] += 1 }
            }
        }

        private func confirmed() async throws -> [String: Int] {
            var counts: [String: Int] = [:]
            for client in clients { counts.merge(try await client.confirmed(), uniquingKeysWith: +) }
            return counts
        }

        private mutating func check(_ name: String) async throws {
            let (there, done) = (counts(), try await confirmed())
            for (mark, count) in done.sorted(by: { $0.key < $1.key }) where there[mark, default: 0] != count {
                let kind = there[mark, default: 0] > count ? "duplicate" : "loss"
                outcome.violations.append(
                    "seed \(seed): \(kind) (\(name)): \(mark) is there \(there[mark, default: 0]) times, and done \(count)."
                )
            }
            for (number, client) in clients.enumerated() where try await client.doubts.isEmpty {
                for set in ["Customers", "Labels", "Orders"] {
                    let remote = world.contents(of: set).compactMap { $0["Mark"]?.stringValue }.sorted()
                    let local = try await client.marks(of: set)
                    guard local != remote else { continue }
                    outcome.violations.append(
                        "seed \(seed): client \(number) has different \(set) (\(name)): \(local) \(remote)")
                }
            }
        }
    }
}

/// A sweep over many cuts, with the combined outcome.
package struct CutSweep: Sendable {
    package let cuts: Int
    package let firstSeed: UInt64
    package let drawsResidue: Bool

    private static let cutsOfRun = 10

    package init(cuts: Int, firstSeed: UInt64 = 1, drawsResidue: Bool = false) {
        self.cuts = cuts
        self.firstSeed = firstSeed
        self.drawsResidue = drawsResidue
    }

    package func run() async -> CutSimulation.Outcome {
        var whole = CutSimulation.Outcome()
        await withTaskGroup(of: CutSimulation.Outcome.self) { group in
            var started = 0
            func start() {
                guard started * Self.cutsOfRun < cuts else { return }
                let simulation = CutSimulation(
                    seed: firstSeed + UInt64(started), cuts: Self.cutsOfRun, drawsResidue: drawsResidue)
                started += 1
                group.addTask { await simulation.run() }
            }
            for _ in 0..<2 { start() }
            while let outcome = await group.next() {
                whole.cuts.merge(outcome.cuts, uniquingKeysWith: +)
                whole.settled.merge(outcome.settled, uniquingKeysWith: +)
                whole.others += outcome.others
                whole.violations += outcome.violations
                start()
            }
        }
        return whole
    }
}

extension CutSimulation.Outcome {
    package var summary: String {
        let kinds = CutSimulation.Scenario.allCases.filter { cuts[$0] != nil }.map { content in
            "\(content) \(settled[content, default: 0]) of \(cuts[content, default: 0])"
        }
        let (all, alone) = (cuts.values.reduce(0, +), settled.values.reduce(0, +))
        let duplicates = violations.count { $0.contains(": duplicate (") }
        let losses = violations.count { $0.contains(": loss (") }
        return """
            simulated cuts: \(all + others); resolved by evidence: \(alone) of \(all) \
            (\(kinds.joined(separator: ", ")))
            duplicates: \(duplicates); losses: \(losses); other findings: \(violations.count - duplicates - losses)
            """
    }
}
