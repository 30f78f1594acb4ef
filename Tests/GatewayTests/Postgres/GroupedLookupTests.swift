import Testing

@testable import Gateway

struct GroupedLookupTests {
    @Test func `look-ups that wait at the same moment share a statement, and each gets its own value`() async throws {
        let statements = Locked(0)
        let lookup = GroupedLookup<Int, Int>(pause: .milliseconds(20)) { keys in
            statements.withLock { $0 += 1 }
            try? await Task.sleep(for: .milliseconds(20))
            return .success(
                Dictionary(uniqueKeysWithValues: keys.filter { $0.isMultiple(of: 2) }.map { ($0, $0 * 10) }))
        }
        let found = try await withThrowingTaskGroup(of: (key: Int, value: Int?).self) { group in
            for number in 0..<400 { group.addTask { (number % 50, try await lookup.value(number % 50)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.count == 400)
        #expect(found.allSatisfy { $0.value == ($0.key.isMultiple(of: 2) ? $0.key * 10 : nil) })
        #expect(statements.value < 100)
    }

    @Test func `a statement begins after the look-ups that it answers`() async throws {
        let committed = Locked(0)
        let lookup = GroupedLookup<Int, Int>(pause: .zero) { keys in
            let seen = committed.value
            await Task.yield()
            return .success(Dictionary(uniqueKeysWithValues: keys.map { ($0, seen) }))
        }
        let stale = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var stale = 0
                    for _ in 0..<200 {
                        let mine = committed.withLock { count in
                            count += 1
                            return count
                        }
                        if try await lookup.value(worker % 3) ?? 0 < mine { stale += 1 }
                    }
                    return stale
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(stale == 0)
    }

    @Test func `an error reaches all that wait, and the next look-up begins anew`() async throws {
        let isBroken = Locked(true)
        let lookup = GroupedLookup<Int, Int>(pause: .milliseconds(1)) { keys in
            try? await Task.sleep(for: .milliseconds(5))
            return isBroken.value ? .failure(LedgerStorageError("down")) : .success([keys[0]: 7])
        }
        let failures = await withTaskGroup(of: Bool.self) { group in
            for key in 0..<20 { group.addTask { (try? await lookup.value(key)) == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 20)
        isBroken.withLock { $0 = false }
        #expect(try await lookup.value(1) == 7)
    }
}
