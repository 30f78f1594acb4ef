/// A text or nil, as a stored property of a large struct.
///
/// The optimizer (Swift 6.3) keeps a struct of many words in memory if several of its properties are enumerations with
/// payloads, such as `String?`. Such a struct is copied and destroyed wherever it is created or returned. This type is
/// no enumeration, so it does not count as one.
///
/// `@usableFromInline`, because otherwise the compiler inlines none of its functions in other modules.
@usableFromInline
package struct OptionalText: Sendable, Hashable {
    /// The text; empty for nil.
    @usableFromInline let present: String
    @usableFromInline package let isPresent: Bool

    @inlinable
    package init(_ text: String?) {
        present = text ?? ""
        isPresent = text != nil
    }

    @inlinable package var text: String? { isPresent ? present : nil }
}
