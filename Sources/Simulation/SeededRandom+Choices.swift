import SeededRandom

extension SeededRandom {
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(below(256)) } }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
}
