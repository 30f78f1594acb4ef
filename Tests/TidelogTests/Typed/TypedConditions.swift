import Tidelog

/// A condition as text of a URL and over typed properties, and the keys of the matching entities.
struct TypedCondition: Sendable, CustomStringConvertible {
    let set: PeopleSet
    let url: String
    let keys: [Int]
    let filter: @Sendable () -> QueryFilter

    init(_ set: PeopleSet, _ url: String, _ keys: [Int], _ filter: @escaping @Sendable () -> QueryFilter) {
        self.set = set
        self.url = url
        self.keys = keys
        self.filter = filter
    }

    var description: String { url }

    static let all = comparisons + texts + times + arithmetic + paths + collections + extensions
}

extension TypedCondition {
    static let comparisons: [TypedCondition] = [
        TypedCondition(.persons, "Name eq 'Ada'", [1]) { Person.name == "Ada" },
        TypedCondition(.persons, "Name eq 'Ada'", [1]) { Person.name.equal("Ada") },
        TypedCondition(.persons, "Nick ne 'Lady'", [2, 3]) { Person.nick != "Lady" },
        TypedCondition(.persons, "Nick ne 'Lady'", [2, 3]) { Person.nick.notEqual("Lady") },
        TypedCondition(.persons, "Nick eq null", [2, 3]) { Person.nick == nil },
        TypedCondition(.persons, "Nick eq null", [2, 3]) { Person.nick.isNull() },
        TypedCondition(.persons, "Nick ne null", [1]) { Person.nick != nil },
        TypedCondition(.persons, "Nick ne null", [1]) { Person.nick.isNotNull() },
        TypedCondition(.persons, "Name gt 'Ada'", [2, 3]) { Person.name > "Ada" },
        TypedCondition(.persons, "IsMember eq true", [1]) { Person.isMember == true },
        TypedCondition(.persons, "IsMember gt false", [1]) { Person.isMember > false },
        TypedCondition(.persons, "Token eq 11111111-2222-3333-4444-555555555555", [1]) { Person.token == token },
        TypedCondition(.persons, "Photo eq binary'AQID'", [1]) { Person.photo == [1, 2, 3] },
        TypedCondition(.persons, "Address ne null", [1, 3]) { Person.address != nil },
        TypedCondition(.errands, "Cost gt 10", [1, 4]) { Errand.cost > 10 },
        TypedCondition(.errands, "Cost gt 10.5", [4]) { Errand.cost.greaterThan(10.5) },
        TypedCondition(.errands, "Cost ge 10.5", [1, 4]) { Errand.cost >= 10.5 },
        TypedCondition(.errands, "Cost ge 10.5", [1, 4]) { Errand.cost.greaterEqual(10.5) },
        TypedCondition(.errands, "Cost lt 10.5", [2]) { Errand.cost < 10.5 },
        TypedCondition(.errands, "Cost lt 10.5", [2]) { Errand.cost.lessThan(10.5) },
        TypedCondition(.errands, "Cost le 10.5", [1, 2]) { Errand.cost <= 10.5 },
        TypedCondition(.errands, "Cost le 10.5", [1, 2]) { Errand.cost.lessEqual(10.5) },
        TypedCondition(.errands, "Hours lt 2.5", [1, 2]) { Errand.hours < 2.5 },
        TypedCondition(.errands, "Hours eq 8", [3]) { Errand.hours == 8 },
        TypedCondition(.errands, "Weight gt 0.5", [1]) { Errand.weight > 0.5 },
        TypedCondition(.errands, "Number eq -3", [3]) { Errand.number == -3 },
        TypedCondition(.errands, "Number in (2,7,9)", [1, 4]) { Errand.number.isIn([2, 7, 9]) },
        TypedCondition(.errands, "Color in (People.Color'Red',People.Color'Blue')", [2]) {
            Errand.color.isIn([.red, .blue])
        },
        TypedCondition(.errands, "Color eq People.Color'Green'", [1]) { Errand.color == .green },
        TypedCondition(.errands, "Color ne People.Color'Green'", [2, 3, 4]) { Errand.color != .green },
        TypedCondition(.errands, "Days has People.Days'Mon'", [1]) { Errand.days.has(.mon) },
        TypedCondition(.errands, "Days has People.Days'Mon,Tue'", [1]) { Errand.days.has([.mon, .tue]) },
        TypedCondition(.errands, "Days eq People.Days'Wed'", [2]) { Errand.days == .wed },
        TypedCondition(.errands, "Number gt ErrandID", [1, 2, 4]) { Errand.number > Errand.errandID },
        TypedCondition(.errands, "Cost gt Number", [1, 4]) { Errand.cost > Errand.number },
        TypedCondition(.errands, "Hours le Cost", [1, 2]) { Errand.hours.lessEqual(Errand.cost) },
        TypedCondition(.errands, "10 lt Cost", [1, 4]) { TypedFunction(10) < Errand.cost },
        TypedCondition(.errands, "not (Number gt 2)", [1, 3]) { !(Errand.number > 2) },
        TypedCondition(.errands, "Number gt 2 and Number lt 6 or Title eq null", [2, 4]) {
            Errand.number > 2 && Errand.number < 6 || Errand.title == nil
        },
        TypedCondition(.errands, "Number gt 2 and (Number lt 6 or Title eq null)", [2, 4]) {
            Errand.number.greaterThan(2).and(Errand.number.lessThan(6).or(Errand.title.isNull()))
        },
    ]

    static let texts: [TypedCondition] = [
        TypedCondition(.errands, "contains(Title,'l')", [1, 2]) { Errand.title.contains("l") },
        TypedCondition(.errands, "startswith(Title,'Buy')", [1]) { Errand.title.startsWith("Buy") },
        TypedCondition(.errands, "endswith(Title,'er')", [2]) { Errand.title.endsWith("er") },
        TypedCondition(.persons, "contains(Nick,Name)", []) { Person.nick.contains(Person.name) },
        TypedCondition(.persons, "startswith(Name,Name)", [1, 2, 3]) { Person.name.startsWith(Person.name) },
        TypedCondition(.persons, "endswith(Name,Nick)", []) { Person.name.endsWith(Person.nick) },
        TypedCondition(.persons, "matchesPattern(Name,'^[AE]')", [1, 3]) { Person.name.matchesPattern("^[AE]") },
        TypedCondition(.persons, "tolower(Name) eq 'ada'", [1]) { Person.name.toLower() == "ada" },
        TypedCondition(.persons, "toupper(Name) eq 'ADA'", [1]) { Person.name.toUpper() == "ADA" },
        TypedCondition(.errands, "trim(Title) eq 'Nap'", [3]) { Errand.title.trim() == "Nap" },
        TypedCondition(.errands, "length(Title) gt 6", [1, 2]) { Errand.title.length() > 6 },
        TypedCondition(.errands, "indexof(Title,'milk') eq 4", [1]) { Errand.title.indexOf("milk") == 4 },
        TypedCondition(.persons, "indexof(Name,Nick) eq -1", [1]) { Person.name.indexOf(Person.nick) == -1 },
        TypedCondition(.persons, "concat(Name,'!') eq 'Bob!'", [2]) { Person.name.concat("!") == "Bob!" },
        TypedCondition(.persons, "concat(concat(Nick,' '),Name) eq 'Lady Ada'", [1]) {
            Person.nick.concat(" ").concat(Person.name) == "Lady Ada"
        },
        TypedCondition(.errands, "substring(Title,4) eq 'milk'", [1]) { Errand.title.substring(from: 4) == "milk" },
        TypedCondition(.errands, "substring(Title,0,4) eq 'Post'", [2]) {
            Errand.title.substring(from: 0, length: 4) == "Post"
        },
    ]

    static let times: [TypedCondition] = [
        TypedCondition(.errands, "year(Due) eq 2024", [1, 2]) { Errand.due.year() == 2024 },
        TypedCondition(.errands, "month(Day) eq 2", [2]) { Errand.day.month() == 2 },
        TypedCondition(.errands, "day(Due) ge 15", [1, 2]) { Errand.due.day() >= 15 },
        TypedCondition(.errands, "hour(At) eq 17", [2]) { Errand.at.hour() == 17 },
        TypedCondition(.errands, "minute(Due) eq 30", [1]) { Errand.due.minute() == 30 },
        TypedCondition(.errands, "second(At) eq 15", [2]) { Errand.at.second() == 15 },
        TypedCondition(.errands, "fractionalseconds(Due) eq 0.5", [2]) { Errand.due.fractionalSeconds() == 0.5 },
        TypedCondition(.errands, "date(Due) eq 2024-01-15", [1]) { Errand.due.date() == day("2024-01-15") },
        TypedCondition(.errands, "date(Due) eq Day", [1, 4]) { Errand.due.date() == Errand.day },
        TypedCondition(.errands, "time(Due) gt At", [1, 2]) { Errand.due.time() > Errand.at },
        TypedCondition(.errands, "totaloffsetminutes(Due) eq 60", [2]) { Errand.due.totalOffsetMinutes() == 60 },
        TypedCondition(.errands, "totalseconds(Length) eq 5400", [2]) { Errand.length.totalSeconds() == 5400 },
        TypedCondition(.errands, "Due lt now()", [1, 2]) { Errand.due < .now },
        TypedCondition(.errands, "Due gt mindatetime()", [1, 2, 3]) { Errand.due > .minimum },
        TypedCondition(.errands, "Due lt maxdatetime()", [1, 2, 3]) { Errand.due < .maximum },
        TypedCondition(.errands, "Day ge 2024-02-01", [2]) { Errand.day >= day("2024-02-01") },
        TypedCondition(.errands, "At lt 12:00:00", [1]) { Errand.at < time("12:00:00") },
        TypedCondition(.errands, "Due gt 2024-02-01T00:00:00Z", [2, 3]) {
            Errand.due > instant("2024-02-01T00:00:00Z")
        },
        TypedCondition(.errands, "Length gt duration'PT1H'", [2]) { Errand.length > duration("PT1H") },
        TypedCondition(.errands, "Due add Length gt 2024-02-29T23:59:59Z", [2]) {
            Errand.due + Errand.length > instant("2024-02-29T23:59:59Z")
        },
    ]

    static let arithmetic: [TypedCondition] = [
        TypedCondition(.errands, "Number add 1 eq 3", [1]) { Errand.number + 1 == 3 },
        TypedCondition(.errands, "Number add 1 eq 3", [1]) { Errand.number.adding(1) == 3 },
        TypedCondition(.errands, "Number sub ErrandID eq 1", [1]) { Errand.number - Errand.errandID == 1 },
        TypedCondition(.errands, "Number sub ErrandID eq 1", [1]) { Errand.number.subtracting(Errand.errandID) == 1 },
        TypedCondition(.errands, "Cost mul 2 eq 21", [1]) { Errand.cost * 2 == 21 },
        TypedCondition(.errands, "Cost mul 2 eq 21", [1]) { Errand.cost.multiplied(by: 2) == 21 },
        TypedCondition(.errands, "Cost mul Number eq 21", [1]) { Errand.cost * Errand.number == 21 },
        TypedCondition(.errands, "Number mul Cost eq 21", [1]) { Errand.number * Errand.cost == 21 },
        TypedCondition(.errands, "Number add Hours eq 2.5", [1]) { Errand.number + Errand.hours == 2.5 },
        TypedCondition(.errands, "Number sub Hours lt 0", [3]) { Errand.number - Errand.hours < 0 },
        TypedCondition(.errands, "Hours sub Number lt 0", [1, 2]) { Errand.hours - Errand.number < 0 },
        TypedCondition(.errands, "Hours add Number eq 5", [3]) { Errand.hours + Errand.number == 5 },
        TypedCondition(.errands, "Cost div Number eq 0.6", [2]) { Errand.cost / Errand.number == 0.6 },
        TypedCondition(.errands, "Number div Hours eq 4", [1]) { Errand.number / Errand.hours == 4 },
        TypedCondition(.errands, "Number div 2 eq 2", [2]) { Errand.number / 2 == 2 },
        TypedCondition(.errands, "Number div 2 eq 2", [2]) { Errand.number.quotient(dividingBy: 2) == 2 },
        TypedCondition(.errands, "Number divby 2 eq 2.5", [2]) { Errand.number.divided(by: 2) == 2.5 },
        TypedCondition(.errands, "Cost divby 2 eq 1.5", [2]) { Errand.cost.divided(by: 2) == 1.5 },
        TypedCondition(.errands, "Number mod 2 eq 1", [2, 4]) { Errand.number % 2 == 1 },
        TypedCondition(.errands, "Number mod 2 eq 1", [2, 4]) { Errand.number.remainder(dividingBy: 2) == 1 },
        TypedCondition(.errands, "-Number eq 3", [3]) { -Errand.number == 3 },
        TypedCondition(.errands, "100 sub Cost gt 50", [1, 2]) { TypedFunction(100) - Errand.cost > 50 },
        TypedCondition(.errands, "round(Hours) eq 2", [2]) { Errand.hours.round() == 2 },
        TypedCondition(.errands, "floor(Cost) eq 10", [1]) { Errand.cost.floor() == 10 },
        TypedCondition(.errands, "ceiling(Cost) eq 11", [1]) { Errand.cost.ceiling() == 11 },
        TypedCondition(.errands, "(Number add 1) mul 2 eq 6", [1]) { (Errand.number + 1) * 2 == 6 },
        TypedCondition(.errands, "Number add 1 mul 2 eq 4", [1]) { Errand.number + TypedFunction(1) * 2 == 4 },
        TypedCondition(.errands, "Day add duration'P1D' eq 2024-02-29", [2]) {
            Errand.day + duration("P1D") == day("2024-02-29")
        },
        TypedCondition(.errands, "Due sub Length lt 2024-01-15T09:00:00Z", [1]) {
            Errand.due.subtracting(Errand.length) < instant("2024-01-15T09:00:00Z")
        },
        TypedCondition(.errands, "Due sub 2024-01-15T09:00:00Z eq duration'PT30M'", [1]) {
            Errand.due - instant("2024-01-15T09:00:00Z") == duration("PT30M")
        },
        TypedCondition(.errands, "Due sub Due eq duration'PT0S'", [1, 2, 3]) {
            Errand.due - Errand.due == duration("PT0S")
        },
        TypedCondition(.errands, "Length add Length eq duration'PT2H'", [1]) {
            Errand.length + Errand.length == duration("PT2H")
        },
        TypedCondition(.errands, "Length mul 1.5 eq duration'PT1H30M'", [1]) {
            Errand.length * 1.5 == duration("PT1H30M")
        },
        TypedCondition(.errands, "Length div 2 eq duration'PT45M'", [2]) { Errand.length / 2 == duration("PT45M") },
        TypedCondition(.errands, "-Length lt duration'PT0S'", [1, 2]) { -Errand.length < duration("PT0S") },
    ]

    static let paths: [TypedCondition] = [
        TypedCondition(.errands, "Person/Name eq 'Ada'", [1, 2]) { Errand.person.name == "Ada" },
        TypedCondition(.errands, "Person/Name eq 'Ada'", [1, 2]) { Errand.person.path(Person.name) == "Ada" },
        TypedCondition(.errands, "Person/Name eq 'Ada'", [1, 2]) { Errand.person.path(Person.property) == "Ada" },
        TypedCondition(.errands, "Person/Boss/Boss/Name eq 'Bob'", [1, 2]) { Errand.person.boss.boss.name == "Bob" },
        TypedCondition(.errands, "Person eq null", [4]) { Errand.person == nil },
        TypedCondition(.errands, "Person ne null", [1, 2, 3]) { Errand.person.isNotNull() },
        TypedCondition(.errands, "Person/Address/City eq 'Rome'", [1, 2]) { Errand.person.address.city == "Rome" },
        TypedCondition(.persons, "Address/City eq 'Oslo'", [3]) { Person.address.city == "Oslo" },
        TypedCondition(.persons, "Address/Number gt 5", [1]) { Person.address.path(Address.number) > 5 },
        TypedCondition(.persons, "tolower(Boss/Address/City) eq 'oslo'", [1]) {
            Person.boss.address.city.toLower() == "oslo"
        },
        TypedCondition(.errands, "Person/Errands/$count gt 1", [1, 2]) { Errand.person.errands.count() > 1 },
    ]

    static let collections: [TypedCondition] = [
        TypedCondition(.persons, "Errands/any(x1:x1/Cost gt 10)", [1]) { Person.errands.any { $0.cost > 10 } },
        TypedCondition(.persons, "Errands/all(x1:x1/Cost gt 2)", [1, 3]) { Person.errands.all { $0.cost > 2 } },
        TypedCondition(.persons, "Errands/any()", [1, 2]) { Person.errands.any() },
        TypedCondition(.persons, "Errands/$count eq 0", [3]) { Person.errands.count() == 0 },
        TypedCondition(.persons, "startswith(Name,'A') and Errands/any(x1:x1/Cost gt 10)", [1]) {
            Person.name.startsWith("A") && Person.errands.any { $0.cost > 10 }
        },
        TypedCondition(.persons, "Errands/any(x2:x2/Person/Errands/any(x1:x1/Cost gt x2/Cost))", [1]) {
            Person.errands.any { one in one.person.errands.any { $0.cost > one.cost } }
        },
        TypedCondition(.persons, "Errands/any(x2:Reports/any(x1:x1/PersonID lt x2/Number))", [1]) {
            Person.errands.any { errand in Person.reports.any { $0.personID < errand.number } }
        },
        TypedCondition(.persons, "Reports/any(x1:x1/Boss/Name eq Name)", [1, 2, 3]) {
            Person.reports.any { $0.boss.name == Person.name }
        },
        TypedCondition(.persons, "Emails/any(x1:x1 eq 'eve@x.org')", [3]) { Person.emails.any { $0 == "eve@x.org" } },
        TypedCondition(.persons, "Emails/all(x1:endswith(x1,'org'))", [2, 3]) {
            Person.emails.all { $0.endsWith("org") }
        },
        TypedCondition(.persons, "Emails/any()", [1, 3]) { Person.emails.any() },
        TypedCondition(.persons, "Emails/$count gt 1", [1]) { Person.emails.count() > 1 },
        TypedCondition(.persons, "Addresses/any(x1:x1/City eq 'Oslo')", [1]) {
            Person.addresses.any { $0.city == "Oslo" }
        },
        TypedCondition(.persons, #"hassubset(Emails,["lady@y.com","ada@x.org"])"#, [1]) {
            Person.emails.hasSubset(["lady@y.com", "ada@x.org"])
        },
        TypedCondition(.persons, #"hassubsequence(Emails,["lady@y.com","ada@x.org"])"#, []) {
            Person.emails.hasSubsequence(["lady@y.com", "ada@x.org"])
        },
    ]

    /// Conditions that require entities of derived types.
    static let types: [TypedCondition] = [
        TypedCondition(.persons, "isof(People.Employee)", [3]) { QueryFilter.isOf(Employee.self) },
        TypedCondition(.persons, "isof(Boss,People.Employee)", [1]) { Person.boss.isOf(Employee.self) },
        TypedCondition(.persons, "People.Employee/Salary gt 1", [3]) { EntityPath(Employee.self).salary > 1 },
        TypedCondition(.persons, "Boss/People.Employee/Salary gt 1", [1]) {
            Person.boss.of(Employee.self).salary > 1
        },
        TypedCondition(.persons, "Boss/People.Employee/Name eq 'Eve'", [1]) {
            Person.boss.of(Employee.self).name == "Eve"
        },
        TypedCondition(.persons, "Reports/People.Employee/any(x1:x1/Salary gt 1)", [2]) {
            Person.reports.of(Employee.self).any { $0.salary > 1 }
        },
    ]
}
