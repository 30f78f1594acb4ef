/// A text that equals another only if both have the same code units.
///
/// `String` compares by canonical equivalence: the composed and the decomposed form of `é` are equal. A service
/// treats them as two keys, ETags or links, so identifying texts are compared exactly.
public struct ExactText: Sendable, Hashable {
    /// The text.
    public let text: String

    /// Creates a text that is compared by its code units.
    public init(_ text: String) { self.text = text }

    public static func == (a: ExactText, b: ExactText) -> Bool { a.text.isExactly(b.text) }

    /// Canonically equivalent texts have the same hash; equality distinguishes them.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ExactText: CustomStringConvertible {
    public var description: String { text }
}

extension String {
    /// Returns whether both texts have the same UTF-8 code units. Cost: O(n); O(1) if the lengths differ.
    public func isExactly(_ other: String) -> Bool {
        let (own, others) = (utf8, other.utf8)
        guard own.count == others.count else { return false }
        let areSame = own.withContiguousStorageIfAvailable { a in
            others.withContiguousStorageIfAvailable { b in
                UnsafeRawBufferPointer(a).hasSameBytes(as: UnsafeRawBufferPointer(b))
            }
        }
        return (areSame ?? nil) ?? own.elementsEqual(others)
    }
}

extension Optional where Wrapped == String {
    /// Returns whether both are `nil`, or have the same UTF-8 code units.
    public func isExactly(_ other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let a?, let b?): a.isExactly(b)
        default: false
        }
    }
}
