import EDM
import Operations
import SeededRandom
import Testing

@testable import SyncCore

/// The sets of entities, compared with a dictionary.
struct EntityRegisterTests {
    private func compare(_ register: EntityRegister, _ model: [UInt64: String], _ comment: Comment) {
        #expect(register.count == model.count, comment)
        #expect(register.isEmpty == model.isEmpty, comment)
        for id in 0...UInt64(42) { #expect(register.set(of: EntityID(rawValue: id)) == model[id], comment) }
        var all: [UInt64] = []
        register.forEach { id, set in
            #expect(set == model[id.rawValue], comment)
            all.append(id.rawValue)
        }
        #expect(all == model.keys.sorted(), comment)
    }

    @Test(arguments: UInt64(1)...30)
    func `any changes lead to the sets of a dictionary`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var register = EntityRegister()
        var model: [UInt64: String] = [:]
        for step in 0..<120 {
            let id = UInt64.random(in: 1...40, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                register.remove(EntityID(rawValue: id))
                model[id] = nil
            } else {
                let set = Int.random(in: 0..<4, using: &random) == 0 ? "B" : "A"
                let isNew = register.register(EntityID(rawValue: id), set: set)
                #expect(isNew == (model[id] == nil), "seed \(seed)")
                if model[id] == nil { model[id] = set }
            }
            compare(register, model, "seed \(seed), step \(step)")
        }
        register.removeAll()
        compare(register, [:], "seed \(seed)")
    }

    @Test func `consecutive entities of one set are one run`() {
        var register = EntityRegister()
        for id: UInt64 in 1...1_000 { _ = register.register(EntityID(rawValue: id), set: "A") }
        #expect(register.runs.count == 1)
    }

    @Test func `the highest IDs are registered and removed`() {
        var register = EntityRegister()
        let ids = [UInt64.max - 1, .max].map { EntityID(rawValue: $0) }
        for id in ids { _ = register.register(id, set: "A") }
        let isNew = register.register(ids[1], set: "B")
        #expect(!isNew)
        register.remove(ids[0])
        #expect(register.set(of: ids[0]) == nil)
        #expect(register.set(of: ids[1]) == "A")
    }
}
