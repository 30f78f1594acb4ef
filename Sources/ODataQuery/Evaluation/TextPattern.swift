import EDM

/// A regular expression of `matchesPattern` (OData 4.01 Part 2, 5.1.1.7.1).
///
/// It supports the regular part of ECMAScript's syntax, without backreferences and lookaround. Patterns with these
/// throw an error, because their cost is unbounded.
///
/// Matching simulates a nondeterministic automaton in one pass over the text. O(*n* × *m*) for a text of *n* characters
/// and a pattern of *m* steps.
struct TextPattern: Sendable {
    /// A step of the pattern. Numbers are indexes of steps.
    enum Step: Sendable {
        case scalar(ScalarSet)
        /// Continues at both steps.
        case split(Int, Int)
        case jump(Int)
        case begin, end
        case wordBoundary(Bool)
        case match
    }

    /// The maximum number of steps of a pattern. Counted repetitions are expanded.
    static let limit = 2_000

    let steps: [Step]

    /// Parses a pattern.
    ///
    /// - Throws: `wrongOperand` for an invalid pattern, `unsupported` for one that is not regular, `outOfRange` for one
    ///   that is too long.
    init(_ pattern: String) throws(EvaluationError) {
        var parser = TextPatternParser(pattern)
        steps = try parser.parse()
    }

    /// Returns whether the pattern matches anywhere in the text.
    func isFound(in text: String) -> Bool {
        var current = ThreadList(steps.count)
        var next = ThreadList(steps.count)
        var before: Unicode.Scalar?
        var scalars = text.unicodeScalars.makeIterator()
        var at = scalars.next()
        while true {
            // A match may begin at any position.
            if add(0, to: &current, before, at) { return true }
            guard let scalar = at else { return false }
            let following = scalars.next()
            for place in current.places {
                guard case .scalar(let set) = steps[place], set.contains(scalar) else { continue }
                if add(place + 1, to: &next, scalar, following) { return true }
            }
            swap(&current, &next)
            next.removeAll()
            (before, at) = (scalar, following)
        }
    }

    /// Follows the steps that consume no character. Returns whether they reach the end of the pattern.
    private func add(
        _ start: Int, to threads: inout ThreadList, _ before: Unicode.Scalar?, _ after: Unicode.Scalar?
    ) -> Bool {
        var waiting = [start]
        while let place = waiting.popLast() {
            guard threads.insert(place) else { continue }
            switch steps[place] {
            case .scalar: break
            case .split(let first, let second): waiting += [first, second]
            case .jump(let target): waiting.append(target)
            case .begin: if before == nil { waiting.append(place + 1) }
            case .end: if after == nil { waiting.append(place + 1) }
            case .wordBoundary(let isWanted):
                if (Self.isWord(before) != Self.isWord(after)) == isWanted { waiting.append(place + 1) }
            case .match: return true
            }
        }
        return false
    }

    private static func isWord(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { ScalarSet.word.contains($0) } ?? false
    }
}

/// A set of step indexes in insertion order.
private struct ThreadList {
    private(set) var places: [Int] = []
    private var isIn: [Bool]

    init(_ count: Int) { isIn = Array(repeating: false, count: count) }

    mutating func insert(_ place: Int) -> Bool {
        if isIn[place] { return false }
        isIn[place] = true
        places.append(place)
        return true
    }

    mutating func removeAll() {
        for place in places { isIn[place] = false }
        places.removeAll(keepingCapacity: true)
    }
}

/// A set of characters that a step matches.
struct ScalarSet: Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isInverted = false

    func contains(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar.value) } != isInverted }

    init(_ ranges: [ClosedRange<UInt32>], isInverted: Bool = false) {
        self.ranges = ranges
        self.isInverted = isInverted
    }

    init(_ scalar: Unicode.Scalar) { ranges = [scalar.value...scalar.value] }

    var inverted: ScalarSet { ScalarSet(ranges, isInverted: !isInverted) }

    /// All characters except line terminators.
    static let any = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isInverted: true)
    static let digit = ScalarSet([0x30...0x39])
    static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = ScalarSet([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
}
