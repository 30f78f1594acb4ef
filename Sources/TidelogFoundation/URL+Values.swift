#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// A `URL` as the type of a property of type `Edm.String`.
///
/// A text reads as a URL only if the URL has exactly this text: a text with characters that a URL must encode reads as
/// `nil`, and stays unchanged in the entity. A relative URL is written as an absolute one if it has a base.
extension URL: PropertyConvertible, QueryLiteral {
    /// The comparison type, shared with `String`.
    public typealias Comparand = String

    /// Creates a URL from a string that is a valid URL; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .string(let text) = propertyValue, let url = URL(string: text, encodingInvalidCharacters: false),
            url.absoluteString.utf8.elementsEqual(text.utf8)
        else { return nil }
        self = url
    }
    /// The absolute string of the URL, as a value of `Edm.String`.
    public var propertyValue: Value { .string(absoluteString) }
    /// The URL `about:blank`.
    public static var propertyDefault: URL { URL(string: "about:blank") ?? URL(filePath: "/") }
    /// The literal in a condition.
    public var queryValue: Value { propertyValue }
}
