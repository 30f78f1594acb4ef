import Tidelog

extension TypedCondition {
    /// AX-07 counts with a condition, AX-08 comparisons without case, AX-09 `isDefined`, AX-06 `contains` of collections.
    static let extensions: [TypedCondition] = [
        TypedCondition(.persons, "Errands/$count($filter=Cost gt 10) eq 1", [1]) {
            Person.errands.count { Errand.cost > 10 } == 1
        },
        TypedCondition(.persons, "Errands/$count($filter=Cost gt 2) gt 1", [1]) {
            Person.errands.count { Errand.cost > 2 } > 1
        },
        TypedCondition(.persons, "tolower(Name) eq tolower('ADA')", [1]) {
            Person.name.equal("ADA", caseSensitive: false)
        },
        TypedCondition(.persons, "Name eq 'ADA'", []) { Person.name.equal("ADA", caseSensitive: true) },
        TypedCondition(.persons, "tolower(Name) ne tolower('ADA')", [2, 3]) {
            Person.name.notEqual("ADA", caseSensitive: false)
        },
        TypedCondition(.persons, "contains(tolower(Name),tolower('D'))", [1]) {
            Person.name.contains("D", caseSensitive: false)
        },
        TypedCondition(.persons, "startswith(tolower(Name),tolower('B'))", [2]) {
            Person.name.startsWith("B", caseSensitive: false)
        },
        TypedCondition(.persons, "endswith(tolower(Name),tolower('VE'))", [3]) {
            Person.name.endsWith("VE", caseSensitive: false)
        },
        TypedCondition(.persons, "tolower(Name) eq tolower('ADA') or tolower(Name) eq tolower('eve')", [1, 3]) {
            Person.name.isIn(["ADA", "eve"], caseSensitive: false)
        },
        TypedCondition(.persons, "Emails/any(x1:x1 eq 'eve@x.org')", [3]) { Person.emails.contains("eve@x.org") },
        TypedCondition(.persons, "isdefined(Nick)", [1, 2, 3]) { Person.nick.isDefined() },
    ]
}
