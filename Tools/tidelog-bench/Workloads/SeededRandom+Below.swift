internal import SeededRandom

extension SeededRandom {
    /// Returns a number from 0 to `limit` - 1.
    mutating func below(_ limit: Int) -> Int { number(0...limit - 1) }
}
