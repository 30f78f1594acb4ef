import ArgumentParser

/// The options `-parser:NAME` of the SDK's generator that have an effect, and those that are the behavior anyway.
struct ParserArguments: ParsableArguments {
    @Flag(
        name: [
            .customLong("parser:ALLOW_CASE_CONFLICTS", withSingleDash: true), .customLong("allow-case-conflicts"),
        ],
        help: "Allow names of elements that differ only in case.")
    var allowCaseConflicts = false

    @Flag(
        name: [
            .customLong("parser:EXCLUDE_SERVER_ONLY_ELEMENTS", withSingleDash: true),
            .customLong("exclude-server-only"),
        ],
        help: "Ignore elements that an annotation declares to be for the server only.")
    var excludeServerOnly = false

    @Flag(
        name: [
            .customLong("parser:IGNORE_ALL_REFERENCES", withSingleDash: true), .customLong("ignore-references"),
        ],
        help: "Do not read documents that the metadata refers to.")
    var ignoreReferences = false

    @Flag(
        name: [.customLong("parser:STRICT_FACET_WARNINGS", withSingleDash: true), .customLong("facet-warnings")],
        help: "Print questionable facets, such as a decimal without a scale, on standard error.")
    var facetWarnings = false

    @Flag(
        name: [
            .customLong("parser:PROCESS_MIXED_VERSIONS", withSingleDash: true),
            .customLong("parser:DISABLE_NAME_VALIDATION", withSingleDash: true),
            .customLong("parser:DISABLE_FACET_WARNINGS", withSingleDash: true),
            .customLong("parser:IGNORE_UNDEFINED_TERMS", withSingleDash: true),
            .customLong("parser:RETAIN_ORIGINAL_TEXT", withSingleDash: true),
            .customLong("parser:DEFAULT_VARIABLE_SCALE", withSingleDash: true),
        ],
        help: "Accepted for compatibility, without effect: the generator behaves like this.")
    var defaults: Int
}
