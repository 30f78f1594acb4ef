import EDM
import Foundation
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Short calls, which run on the thread of their caller if the store is idle.
struct ShortAccessTests {
    private func isOnCallersThread(_ shop: Shop) async throws -> Bool {
        let thread = currentThread()
        return try await shop.store.withShortAccess { _ in currentThread() == thread }
    }

    @Test func `a short call of a task without an actor runs on its thread if the store is idle`() async throws {
        let shop = try await Shop(.v4)
        // The last job of the store may not have ended yet.
        var count = 0
        while try await !isOnCallersThread(shop), count < 1_000 { count += 1 }
        #expect(count < 1_000)
    }

    @Test @MainActor func `a short call of the main actor runs on the queue of the store`() async throws {
        let shop = try await Shop(.v4)
        for _ in 0..<20 {
            #expect(try await shop.store.withShortAccess { _ in Thread.isMainThread } == false)
        }
    }

    @Test func `an executor with a running job does not run another one on the caller's thread`() {
        let executor = SerialQueueExecutor(label: "test")
        let inner = executor.runIfIdle { executor.runIfIdle { true } }
        #expect(inner == .some(nil))
        #expect(executor.wait { executor.runIfIdle { true } } == nil)
        #expect(executor.runIfIdle { executor.isCurrent } == true)
        #expect(!executor.isCurrent)
    }

    @Test func `short calls of many tasks never run at once`() async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("Ada")])
        let before = try await shop.store.queue.pendingOperations().count
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for task in 0..<8 {
                tasks.addTask {
                    for number in 0..<25 {
                        try await shop.perform(update(link, ["Name": .string("\(task) \(number)")]))
                        let row = try await shop.store.withShortAccess { store throws(TidelogError) in
                            try store.load(.link(link))
                        }
                        #expect(row.values["Name"] != nil)
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(try await shop.store.queue.pendingOperations().count == before + 200)
    }
}

/// Returns an identifier of the calling thread.
private func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
