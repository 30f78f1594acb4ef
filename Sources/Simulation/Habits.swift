import Operations
import SyncEngine

/// What the apps of a run make use of, in percent of their calls. Most runs leave most of it out, so that each thing is seen
/// alone as well.
struct Habits {
    /// From how many pending operations on only those are applied anew that a change reaches. The state must not depend on it.
    let longQueue: Int
    let undoesLocalCreation: Bool
    /// Of the uploads.
    let coalescing: Int
    let drafts: Int
    let localOnly: Int
    let categories: Int
    let unmodifiable: Int
    let transactions: Int

    init(_ random: inout SeededRandom) {
        longQueue = [0, 4, 256][random.below(3)]
        undoesLocalCreation = random.chance(20)
        coalescing = [0, 0, 50, 100][random.below(4)]
        drafts = [0, 0, 8, 25][random.below(4)]
        localOnly = [0, 0, 5, 15][random.below(4)]
        categories = [0, 0, 0, 40][random.below(4)]
        unmodifiable = [0, 0, 5, 30][random.below(4)]
        transactions = [0, 0, 10, 25][random.below(4)]
    }

    var line: String {
        "long queue \(longQueue), coalesces \(coalescing), drafts \(drafts), local \(localOnly), categories \(categories), "
            + "unmodifiable \(unmodifiable), transactions \(transactions)"
    }

    // MARK: What one call says

    static let categoryNames = ["a", "b"]

    /// - Parameter delivery: the same for all of a change set.
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

    /// How an upload of the storm goes about it.
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
