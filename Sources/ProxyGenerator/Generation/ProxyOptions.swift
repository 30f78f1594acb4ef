/// What the person who generates may choose.
public struct ProxyOptions: Sendable, Hashable {
    /// The class of the service; nil takes the name of the entity container.
    public var service: String?
    /// What every other class begins with.
    public var prefix: String
    /// Whether the classes are for their own module only.
    public var isInternal: Bool
    /// Whether properties that must not be null have a type that is no optional.
    public var disablesOptionals: Bool
    /// Whether enumerations may get new members without the classes being generated again.
    public var hasOpenEnumerations: Bool
    /// Whether elements may have names that differ in case only. Otherwise they are an error.
    public var allowsCaseConflicts: Bool

    public init(
        service: String? = nil, prefix: String = "", isInternal: Bool = false, disablesOptionals: Bool = false,
        hasOpenEnumerations: Bool = false, allowsCaseConflicts: Bool = false
    ) {
        self.service = service
        self.prefix = prefix
        self.isInternal = isInternal
        self.disablesOptionals = disablesOptionals
        self.hasOpenEnumerations = hasOpenEnumerations
        self.allowsCaseConflicts = allowsCaseConflicts
    }
}
