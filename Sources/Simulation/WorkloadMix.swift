import OfflineStore
import OperationLog
import Operations
import SeededRandom

/// The workload of the apps in a run: how often they use each feature, in percent of their calls.
///
/// Most runs omit most features, so that each feature is also tested in isolation.
struct WorkloadMix {
    /// The number of pending operations from which only the operations affected by a change are reapplied. The state
    /// must not depend on it.
    let longQueue: Int
    private(set) var undoesLocalCreation: Bool
    /// The percentage of uploads that coalesce.
    let coalescing: Int
    let drafts: Int
    let localOnly: Int
    private(set) var categories: Int
    let unmodifiable: Int
    private(set) var transactions: Int
    /// The percentage of changes of a client-only property.
    private(set) var clientOnly: Int
    /// The percentage of calls of actions among the operations.
    let calls: Int
    /// The percentage of calls that work on drafts of entities.
    private(set) var entityDrafts: Int
    /// The percentage of calls that replace links or values.
    let replacements: Int
    /// The sets whose new entities the stores remove after the upload.
    private(set) var removedSets: Set<String>
    /// The percentage of steps of a device after which its log recompresses sealed segments.
    let recompression: Int
    /// Whether the stores download entities without keys.
    let readsKeyless: Bool
    /// The number of client-only changes that can be undone.
    let undoableClientChanges: Int

    /// Returns the workload of a run whose history is recorded: no feature that removes changes again.
    static func history(_ random: inout SeededRandom) -> WorkloadMix {
        var mix = WorkloadMix(&random)
        (mix.undoesLocalCreation, mix.categories, mix.transactions, mix.clientOnly, mix.entityDrafts) = (
            false, 0, 0, 0, 0
        )
        (mix.removedSets, mix.durability) = ([], .everyCommit)
        return mix
    }

    init(_ random: inout SeededRandom) {
        longQueue = [0, 4, 256][random.below(3)]
        undoesLocalCreation = random.chance(20)
        coalescing = [0, 0, 50, 100][random.below(4)]
        drafts = [0, 0, 8, 25][random.below(4)]
        localOnly = [0, 0, 5, 15][random.below(4)]
        categories = [0, 0, 0, 40][random.below(4)]
        unmodifiable = [0, 0, 5, 30][random.below(4)]
        transactions = [0, 0, 10, 25][random.below(4)]
        calls = [0, 0, 8, 25][random.below(4)]
        clientOnly = [0, 0, 10, 25][random.below(4)]
        entityDrafts = [0, 0, 20, 60][random.below(4)]
        replacements = [0, 0, 10, 25][random.below(4)]
        var removed: Set<String> = []
        if random.chance(25) { for set in FieldService.sets where random.chance(50) { removed.insert(set) } }
        removedSets = removed
        // The interval is in real time and longer than any run, so only uploads and the end of a process sync such a
        // log.
        let interval = OperationLog.Options.Durability.interval(milliseconds: 86_400_000)
        durability = [.everyCommit, .everyCommit, .grouped, .none, interval][random.below(5)]
        segmentSize = [2_048, 16_384][random.below(2)]
        isEncrypted = random.chance(15)
        undoableClientChanges = [4, 4, 40][random.below(3)]
        readsKeyless = random.chance(20)
        recompression = [0, 0, 20, 50][random.below(4)]
    }

    var line: String {
        "long queue \(longQueue), coalesces \(coalescing), drafts \(drafts), local \(localOnly), categories \(categories), "
            + "unmodifiable \(unmodifiable), transactions \(transactions), calls \(calls), client-only \(clientOnly), "
            + "durability \(durability)\(isEncrypted ? ", encrypted" : ""), drafts of entities \(entityDrafts), replacements \(replacements), removed after the upload \(removedSets.sorted())"
            + "\(readsKeyless ? ", entities without keys" : ""), recompression \(recompression)"
    }

    /// The durability of the logs.
    private(set) var durability: OperationLog.Options.Durability

    /// Whether acknowledged commits survive a power loss.
    ///
    /// Otherwise a power loss may lose operations that no upload has sent.
    var survivesPowerLoss: Bool { durability == .everyCommit || durability == .grouped }

    /// The size of the logs' segments, in bytes.
    let segmentSize: UInt64

    /// Whether the stores are encrypted.
    let isEncrypted: Bool

    /// The keys of the stores; none if they are not encrypted.
    var keys: [LogKey] { isEncrypted ? [LogKey(Array(1...32))].compactMap { $0 } : [] }

    /// Whether the stores have client-only metadata.
    var hasClientOnly: Bool { clientOnly > 0 || entityDrafts > 0 }

    // MARK: Operations of one call

    static let categoryNames = ["a", "b"]

    /// Returns the options of one call.
    ///
    /// - Parameter delivery: The delivery, which is the same for all operations of a change set.
    func options(_ tag: String, _ delivery: Delivery, _ random: inout SeededRandom) -> IntentOptions {
        var options = IntentOptions(customTag: tag, delivery: delivery)
        options.isUnmodifiable = random.chance(unmodifiable)
        if random.chance(transactions) { options.transactionID = "x\(random.below(3))" }
        if random.chance(categories) {
            options.uploadCategory = .named(Self.categoryNames[random.below(Self.categoryNames.count)])
        }
        return options
    }

    func delivery(_ random: inout SeededRandom) -> Delivery {
        if random.chance(drafts) { return .draft }
        return random.chance(localOnly) ? .localOnly : .queued
    }

    /// Returns the options of an upload while faults are active.
    func upload(_ random: inout SeededRandom, refused: [SequenceNumber]) -> UploadOptions {
        var options = UploadOptions(requestLimit: [500, 500, 3][random.below(3)], coalesces: random.chance(coalescing))
        if random.chance(categories / 2) {
            options.categories = [.named(Self.categoryNames[random.below(Self.categoryNames.count)])]
        }
        if random.chance(10) { options.byteLimit = 1_000 }
        switch random.below(8) {
        case 0: options.refused = .none
        case 1: if !refused.isEmpty { options.refused = .only([refused[random.below(refused.count)]]) }
        default: break
        }
        options.ignoresPostponement = random.chance(20)
        return options
    }
}
