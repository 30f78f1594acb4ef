// The compiler crash that `Tools/optimizer-crash/check` looks for. With -O, Swift 6.3.1 dies in LLVM's CoroSplit pass.
//
// LLVM allows loads, stores and calls only for the slot of a thrown error (an alloca with `swifterror`). SimplifyCFG
// checks this for the first of the instructions that it merges, not for the others. It merges the end of the two paths
// into `catch`: the reset of the slot after `untyped`, and the last store into the box of the error of `typed`. Then a
// phi refers to the slot. CoroSplit takes the phi for a call. In a function that does not suspend, the verifier rejects
// the phi: "swifterror value can only be loaded and stored from, or as a swifterror argument!"
//
// Necessary are: one `catch` for an untyped error and a typed one with a payload, a path from `catch` to the end of the
// function without a branch, and a call that can use the slot there, because the reset is removed otherwise.

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
