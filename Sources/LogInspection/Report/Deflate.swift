/// Raw DEFLATE (RFC 1951), for a page that a browser decompresses with `DecompressionStream`.
///
/// It uses hash chains over a window of 32 KiB, and dynamic Huffman codes for each block. It is deterministic.
struct Deflate {
    private static let window = 32_768
    private static let minimumMatch = 3
    private static let maximumMatch = 258
    /// The largest number of candidates examined for a match.
    private static let chainLength = 16
    private static let symbolsInBlock = 1 << 16
    private static let hashBits = 15

    private var bits = DeflateBits()
    /// The length and distance of a match, or a literal byte with distance 0.
    private var symbols: [(value: UInt16, distance: UInt16)] = []

    static func compress(_ input: [UInt8]) -> [UInt8] {
        var deflate = Deflate()
        input.withUnsafeBufferPointer { deflate.run($0) }
        return deflate.bits.finished()
    }

    private mutating func run(_ input: UnsafeBufferPointer<UInt8>) {
        var head = [Int32](repeating: -1, count: 1 << Self.hashBits)
        var previous = [Int32](repeating: -1, count: Self.window)
        symbols.reserveCapacity(Self.symbolsInBlock)
        var at = 0
        func insert(_ place: Int) {
            guard place + 2 < input.count else { return }
            let hash = Self.hash(input, place)
            previous[place & (Self.window - 1)] = head[hash]
            head[hash] = Int32(truncatingIfNeeded: place)
        }
        while at < input.count {
            let match = Self.match(input, at, head, previous)
            if match.length >= Self.minimumMatch {
                symbols.append((UInt16(match.length), UInt16(match.distance)))
                for place in at..<at + match.length { insert(place) }
                at += match.length
            } else {
                symbols.append((UInt16(input[at]), 0))
                insert(at)
                at += 1
            }
            if symbols.count == Self.symbolsInBlock { endBlock(isLast: false) }
        }
        endBlock(isLast: true)
    }

    private static func hash(_ input: UnsafeBufferPointer<UInt8>, _ at: Int) -> Int {
        let value = UInt32(input[at]) << 16 | UInt32(input[at + 1]) << 8 | UInt32(input[at + 2])
        return Int((value &* 2_654_435_761) >> UInt32(32 - hashBits))
    }

    private static func match(
        _ input: UnsafeBufferPointer<UInt8>, _ at: Int, _ head: [Int32], _ previous: [Int32]
    ) -> (length: Int, distance: Int) {
        guard at + 2 < input.count else { return (0, 0) }
        let limit = min(maximumMatch, input.count - at)
        var best = (length: 0, distance: 0)
        var candidate = Int(head[hash(input, at)])
        for _ in 0..<chainLength {
            // The chain entry was overwritten by a later position.
            guard candidate >= 0, at - candidate < window, candidate < at else { break }
            if best.length == 0 || input[candidate + best.length] == input[at + best.length] {
                var length = 0
                while length < limit, input[candidate + length] == input[at + length] { length += 1 }
                if length > best.length { best = (length, at - candidate) }
                if length == limit { break }
            }
            candidate = Int(previous[candidate & (window - 1)])
        }
        return best
    }

    // MARK: Blocks

    private mutating func endBlock(isLast: Bool) {
        var literals = [Int](repeating: 0, count: 286)
        var distances = [Int](repeating: 0, count: 30)
        literals[256] = 1
        for symbol in symbols {
            guard symbol.distance > 0 else {
                literals[Int(symbol.value)] += 1
                continue
            }
            literals[257 + DeflateTables.lengths.code(Int(symbol.value))] += 1
            distances[DeflateTables.distances.code(Int(symbol.distance))] += 1
        }
        // Some decoders do not accept a code with only one symbol.
        if distances.allSatisfy({ $0 == 0 }) { distances[0] = 1 }
        let literalCode = HuffmanCode(counts: literals, limit: 15)
        let distanceCode = HuffmanCode(counts: distances, limit: 15)
        bits.add(isLast ? 1 : 0, 1)
        bits.add(2, 2)
        writeCodes(literalCode, distanceCode)
        for symbol in symbols {
            guard symbol.distance > 0 else {
                bits.add(literalCode, Int(symbol.value))
                continue
            }
            add(DeflateTables.lengths, Int(symbol.value), literalCode, offset: 257)
            add(DeflateTables.distances, Int(symbol.distance), distanceCode, offset: 0)
        }
        bits.add(literalCode, 256)
        symbols.removeAll(keepingCapacity: true)
    }

    private mutating func add(_ table: DeflateTables, _ value: Int, _ code: HuffmanCode, offset: Int) {
        let index = table.code(value)
        bits.add(code, offset + index)
        bits.add(UInt32(value - table.bases[index]), table.extraBits[index])
    }

    /// Writes the lengths of the codes, which are Huffman-coded themselves.
    private mutating func writeCodes(_ literals: HuffmanCode, _ distances: HuffmanCode) {
        let literalCount = max(257, (literals.lengths.lastIndex { $0 > 0 } ?? 0) + 1)
        let distanceCount = max(1, (distances.lengths.lastIndex { $0 > 0 } ?? 0) + 1)
        let lengths = Array(literals.lengths[..<literalCount] + distances.lengths[..<distanceCount])
        let runs = Self.runs(lengths)
        var counts = [Int](repeating: 0, count: 19)
        for run in runs { counts[run.symbol] += 1 }
        let code = HuffmanCode(counts: counts, limit: 7)
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        let orderCount = max(4, (order.lastIndex { code.lengths[$0] > 0 } ?? 0) + 1)
        bits.add(UInt32(literalCount - 257), 5)
        bits.add(UInt32(distanceCount - 1), 5)
        bits.add(UInt32(orderCount - 4), 4)
        for symbol in order[..<orderCount] { bits.add(UInt32(code.lengths[symbol]), 3) }
        for run in runs {
            bits.add(code, run.symbol)
            bits.add(UInt32(run.extra), run.bits)
        }
    }

    private static func runs(_ lengths: [UInt8]) -> [(symbol: Int, extra: Int, bits: Int)] {
        var runs: [(symbol: Int, extra: Int, bits: Int)] = []
        var at = 0
        while at < lengths.count {
            let length = lengths[at]
            var count = 1
            while at + count < lengths.count, lengths[at + count] == length, count < 138 { count += 1 }
            if length == 0, count >= 11 {
                runs.append((18, count - 11, 7))
            } else if length == 0, count >= 3 {
                runs.append((17, count - 3, 3))
            } else if count >= 4 {
                count = min(count, 7)
                runs.append((Int(length), 0, 0))
                runs.append((16, count - 4, 2))
            } else {
                count = 1
                runs.append((Int(length), 0, 0))
            }
            at += count
        }
        return runs
    }
}

/// The codes for lengths or distances, with their extra bits (RFC 1951, 3.2.5).
struct DeflateTables {
    let bases: [Int]
    let extraBits: [Int]

    static let lengths = DeflateTables(
        bases: [
            3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
            227,
            258,
        ],
        extraBits: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0])

    static let distances = DeflateTables(
        bases: [
            1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
            6145, 8193, 12289, 16385, 24577,
        ],
        extraBits: [
            0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
        ])

    /// Returns the last code whose base is not greater than the value.
    func code(_ value: Int) -> Int {
        var (low, high) = (0, bases.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if bases[middle] <= value { low = middle } else { high = middle - 1 }
        }
        return low
    }
}

/// A bit writer that fills each byte from the least significant bit.
struct DeflateBits {
    private var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var count = 0

    mutating func add(_ value: UInt32, _ width: Int) {
        pending |= UInt64(value) << UInt64(count)
        count += width
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    mutating func add(_ code: HuffmanCode, _ symbol: Int) { add(code.codes[symbol], Int(code.lengths[symbol])) }

    mutating func finished() -> [UInt8] {
        if count > 0 { add(0, 8 - count) }
        return bytes
    }
}

/// A canonical, length-limited Huffman code.
struct HuffmanCode {
    /// The code lengths; 0 for symbols that do not occur.
    private(set) var lengths: [UInt8]
    /// The codes. The first bit of a code is its least significant one.
    private(set) var codes: [UInt32]

    init(counts: [Int], limit: Int) {
        lengths = [UInt8](repeating: 0, count: counts.count)
        codes = [UInt32](repeating: 0, count: counts.count)
        var counts = counts
        // At least two symbols, because some decoders do not accept a code with only one.
        var spare = 0
        while counts.count(where: { $0 > 0 }) < 2 {
            if counts[spare] == 0 { counts[spare] = 1 }
            spare += 1
        }
        // If the tree is too deep, the counts are flattened until it is not.
        var depths = Self.depths(counts)
        while depths.contains(where: { $0 > limit }) {
            counts = counts.map { $0 == 0 ? 0 : ($0 + 1) / 2 + 1 }
            depths = Self.depths(counts)
        }
        lengths = depths.map { UInt8($0) }
        assignCodes(limit)
    }

    private static func depths(_ counts: [Int]) -> [Int] {
        var parents: [Int] = Array(repeating: -1, count: counts.count * 2)
        // Two queues, leaves and inner nodes, each in ascending order.
        let leaves = counts.indices.filter { counts[$0] > 0 }.sorted { (counts[$0], $0) < (counts[$1], $1) }
        var inner: [(node: Int, count: Int)] = []
        var (leaf, node) = (0, 0)
        func take() -> (node: Int, count: Int)? {
            let hasLeaf = leaf < leaves.count
            let hasInner = node < inner.count
            if hasLeaf, !hasInner || counts[leaves[leaf]] <= inner[node].count {
                defer { leaf += 1 }
                return (leaves[leaf], counts[leaves[leaf]])
            }
            guard hasInner else { return nil }
            defer { node += 1 }
            return inner[node]
        }
        while let first = take(), let second = take() {
            let parent = counts.count + inner.count
            parents[first.node] = parent
            parents[second.node] = parent
            inner.append((parent, first.count + second.count))
        }
        var depths = [Int](repeating: 0, count: counts.count * 2)
        for index in stride(from: counts.count + inner.count - 2, through: counts.count, by: -1) {
            depths[index] = depths[parents[index]] + 1
        }
        for leaf in leaves { depths[leaf] = depths[parents[leaf]] + 1 }
        return Array(depths[..<counts.count])
    }

    private mutating func assignCodes(_ limit: Int) {
        var counts = [UInt32](repeating: 0, count: limit + 2)
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        var next = [UInt32](repeating: 0, count: limit + 2)
        var code: UInt32 = 0
        for length in 1...limit {
            code = (code + counts[length - 1]) << 1
            next[length] = code
        }
        for (symbol, length) in lengths.enumerated() where length > 0 {
            var reversed: UInt32 = 0
            for bit in 0..<UInt32(length) where next[Int(length)] & (1 << bit) != 0 {
                reversed |= 1 << (UInt32(length) - 1 - bit)
            }
            codes[symbol] = reversed
            next[Int(length)] += 1
        }
    }
}
