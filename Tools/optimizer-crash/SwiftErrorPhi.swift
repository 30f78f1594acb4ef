// The crash that `Tools/optimizer-crash/check` looks for: with -O, Swift 6.3.1 crashes in LLVM's CoroSplit pass.
//
// In LLVM, only loads, stores and calls may use the slot of a thrown error (an alloca with `swifterror`). SimplifyCFG
// tests this for the first of the instructions that it merges into one, and not for the rest. Here it merges the last
// stores on the two paths into `catch`: the reset of the slot after `untyped`, and the copy of the error of `typed`
// into a box. The result is a phi that uses the slot. CoroSplit treats the phi as a call. Without `await` the verifier
// rejects the phi: "swifterror value can only be loaded and stored from, or as a swifterror argument!"
//
// A function is affected if it is async or ends in a trap; if one `catch` gets untyped errors and typed errors with a
// payload, also in an inlined function; if no branch follows between `catch` and the end; and if LLVM does not remove
// the reset of the slot as unused. Here the call of `measure` prevents that; long functions were affected without one.
//
// Fixed in LLVM by https://github.com/llvm/llvm-project/pull/217372 (August 2026), and in Swift's fork by
// https://github.com/swiftlang/llvm-project/pull/13932.

struct TypedError: Error { var items: [Int] }

@inline(never) func untyped(_ number: Int) throws { if number == 1 { throw CancellationError() } }
@inline(never) func typed(_ number: Int) throws(TypedError) { if number == 2 { throw TypedError(items: [number]) } }
@inline(never) func measure(_ body: () throws -> Int) rethrows -> Int { try body() }

public func suspending(_ number: Int) async -> Int {
    await Task.yield()
    do {
        try untyped(number)
        try typed(number)
        return 0
    } catch {
        return measure { "\(error)".count }
    }
}
