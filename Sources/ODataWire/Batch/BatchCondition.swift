/// A condition under which a part of a batch is executed: the outcomes of earlier parts.
///
/// ```swift
/// let create = batch.addChanges(creation)
/// batch.addChanges(repair, if: !.succeeded(create))
/// ```
public indirect enum BatchCondition: Sendable, Hashable {
    /// The part with this number was executed without an error.
    case succeeded(Int)
    /// The condition does not hold.
    case not(BatchCondition)
    /// Both conditions hold.
    case and(BatchCondition, BatchCondition)
    /// At least one of the conditions holds.
    case or(BatchCondition, BatchCondition)

    /// A condition that the part with this number failed, or was not executed.
    public static func failed(_ number: Int) -> BatchCondition { .not(.succeeded(number)) }

    /// Returns the negation of a condition.
    public static prefix func ! (condition: BatchCondition) -> BatchCondition { .not(condition) }
    /// Returns a condition that holds if both conditions hold.
    public static func && (a: BatchCondition, b: BatchCondition) -> BatchCondition { .and(a, b) }
    /// Returns a condition that holds if at least one of the conditions holds.
    public static func || (a: BatchCondition, b: BatchCondition) -> BatchCondition { .or(a, b) }

    /// The numbers of the parts that the condition refers to.
    package var parts: Set<Int> {
        switch self {
        case .succeeded(let number): [number]
        case .not(let condition): condition.parts
        case .and(let a, let b), .or(let a, let b): a.parts.union(b.parts)
        }
    }

    /// Returns the value of the condition, or nil if it depends on a part without a known outcome.
    ///
    /// - Parameter outcomes: Whether each part succeeded.
    package func value(_ outcomes: [Int: Bool]) -> Bool? {
        switch self {
        case .succeeded(let number): return outcomes[number]
        case .not(let condition): return condition.value(outcomes).map { !$0 }
        case .and(let a, let b):
            let (a, b) = (a.value(outcomes), b.value(outcomes))
            if a == false || b == false { return false }
            return a == nil || b == nil ? nil : true
        case .or(let a, let b):
            let (a, b) = (a.value(outcomes), b.value(outcomes))
            if a == true || b == true { return true }
            return a == nil || b == nil ? nil : false
        }
    }

    /// Returns the condition without the parts whose outcomes are known. The value itself must be unknown.
    package func simplified(_ outcomes: [Int: Bool]) -> BatchCondition {
        switch self {
        case .succeeded: return self
        case .not(let condition): return .not(condition.simplified(outcomes))
        case .and(let a, let b), .or(let a, let b):
            if a.value(outcomes) != nil { return b.simplified(outcomes) }
            if b.value(outcomes) != nil { return a.simplified(outcomes) }
            let (a, b) = (a.simplified(outcomes), b.simplified(outcomes))
            if case .and = self { return .and(a, b) }
            return .or(a, b)
        }
    }

    /// Returns the condition with other numbers of the parts.
    package func renumbered(_ number: (Int) -> Int) -> BatchCondition {
        switch self {
        case .succeeded(let part): .succeeded(number(part))
        case .not(let condition): .not(condition.renumbered(number))
        case .and(let a, let b): .and(a.renumbered(number), b.renumbered(number))
        case .or(let a, let b): .or(a.renumbered(number), b.renumbered(number))
        }
    }

    /// Returns the value of `if` in a JSON batch (OData JSON Format 4.01, section 19.1).
    ///
    /// - Parameter identifiers: The identifier of the first request of each part.
    func expression(_ identifiers: [String]) -> String {
        switch self {
        case .succeeded(let number): "$\(identifiers[number])/$succeeded"
        case .not(let condition): "not (\(condition.expression(identifiers)))"
        case .and(let a, let b): "(\(a.expression(identifiers)) and \(b.expression(identifiers)))"
        case .or(let a, let b): "(\(a.expression(identifiers)) or \(b.expression(identifiers)))"
        }
    }
}
