/// A text that equals another only if both have the same code units.
///
/// `String` compares by canonical equivalence: the composed and the decomposed form of `é` are equal. To a service they
/// are two keys, two ETags and two links, so whatever identifies something is compared exactly.
public struct ExactText: Sendable, Hashable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public static func == (a: ExactText, b: ExactText) -> Bool { a.text.isExactly(b.text) }

    /// Texts that are canonically equivalent share a hash, which equality then tells apart.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ExactText: CustomStringConvertible {
    public var description: String { text }
}

extension String {
    /// Whether both texts have the same UTF-8 code units. Cost: linear; constant if the lengths differ.
    public func isExactly(_ other: String) -> Bool {
        let (own, others) = (utf8, other.utf8)
        guard own.count == others.count else { return false }
        let areSame = own.withContiguousStorageIfAvailable { a in
            others.withContiguousStorageIfAvailable { b in a.elementsEqual(b) }
        }
        return (areSame ?? nil) ?? own.elementsEqual(others)
    }
}

extension Optional where Wrapped == String {
    /// Whether both are nil, or both are texts with the same UTF-8 code units.
    public func isExactly(_ other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let a?, let b?): a.isExactly(b)
        default: false
        }
    }
}
