/// The options of a generation.
package struct ProxyOptions: Sendable, Hashable {
    /// The class name of the service. If nil, an annotation or the name of the entity container determines it.
    package var service: String?
    /// The prefix of the names that neither an option nor an annotation chooses.
    package var prefix: String
    /// Whether the generated declarations are internal to their module.
    package var isInternal: Bool
    /// Whether properties that are not nullable have a type that is not optional.
    package var disablesOptionals: Bool
    /// Whether enumerations accept members that the service adds after the generation.
    package var hasOpenEnumerations: Bool
    /// Whether the names of elements may differ only in case. Otherwise, such names are an error.
    package var allowsCaseConflicts: Bool
    /// Whether elements that an annotation declares to be for the server only are ignored.
    package var excludesServerOnlyElements: Bool
    /// Whether questionable facets are reported.
    package var hasFacetWarnings: Bool

    package init(
        service: String? = nil, prefix: String = "", isInternal: Bool = false, disablesOptionals: Bool = false,
        hasOpenEnumerations: Bool = false, allowsCaseConflicts: Bool = false,
        excludesServerOnlyElements: Bool = false, hasFacetWarnings: Bool = false
    ) {
        self.service = service
        self.prefix = prefix
        self.isInternal = isInternal
        self.disablesOptionals = disablesOptionals
        self.hasOpenEnumerations = hasOpenEnumerations
        self.allowsCaseConflicts = allowsCaseConflicts
        self.excludesServerOnlyElements = excludesServerOnlyElements
        self.hasFacetWarnings = hasFacetWarnings
    }
}
