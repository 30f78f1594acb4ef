import EDM

/// A regular expression of `matchesPattern` (OData 4.01 Part 2, 5.1.1.7.1), which are those of ECMAScript as far as they are
/// regular: no references back and no looking around. They are refused, for what they would take grows without bounds.
///
/// A text is looked at once, with all ways of the pattern followed side by side. Cost: the length of the text times that of the
/// pattern, whatever the two are.
struct TextPattern: Sendable {
    /// A step of the pattern. Numbers are places among the steps.
    enum Step: Sendable {
        case scalar(ScalarSet)
        /// Goes on at both.
        case split(Int, Int)
        case jump(Int)
        case begin, end
        case wordBoundary(Bool)
        case match
    }

    /// The most steps that a pattern may have; repetitions with numbers are written out.
    static let limit = 2_000

    let steps: [Step]

    /// Throws `wrongOperand` for what is no pattern, `unsupported` for what is not regular, `outOfRange` for what is too long.
    init(_ pattern: String) throws(EvaluationError) {
        var parser = TextPatternParser(pattern)
        steps = try parser.parse()
    }

    /// Whether the pattern fits somewhere in the text.
    func isFound(in text: String) -> Bool {
        var current = ThreadList(steps.count)
        var next = ThreadList(steps.count)
        var before: Unicode.Scalar?
        var scalars = text.unicodeScalars.makeIterator()
        var at = scalars.next()
        while true {
            // A match may begin anywhere.
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

    /// Follows what takes no character. Returns whether that leads to the end of the pattern.
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

/// Places in the pattern, each once.
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

/// Characters that a step takes.
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

    /// All but the ends of lines.
    static let any = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isInverted: true)
    static let digit = ScalarSet([0x30...0x39])
    static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = ScalarSet([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
}
