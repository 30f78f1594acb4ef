import EDM
import Operations
import SeededRandom
import SyncCore

/// Generator of random logs: operations and facts in any order, legal or not. A seed determines the log.
struct RandomRecords {
    private var random: SeededRandom
    private var nextEntity: UInt64 = 1
    private var nextSequence: SequenceNumber = 1
    private var nextBatch: BatchID = 1
    private var operations: [SequenceNumber] = []
    /// Operations that an undo referred to.
    private var undone: [SequenceNumber] = []
    private var entities: [(id: EntityID, set: String)] = []

    static let sets = ["Customers", "Orders", "Cards", "Tags"]

    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/></ComplexType>
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Rating" Type="Edm.Decimal" Scale="variable"/><Property Name="Since" Type="Edm.DateTimeOffset"/>
        <Property Name="Address" Type="S.Address"/>
        <NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/>
        <NavigationProperty Name="Card" Type="S.Card" Partner="Customer"/></EntityType>
        <EntityType Name="BigCustomer" BaseType="S.Customer"><Property Name="Size" Type="Edm.Int64"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="CustomerID" Type="Edm.Int32"/>
        <Property Name="Amount" Type="Edm.Decimal" Scale="variable"/><Property Name="Note" Type="Edm.String"/>
        <NavigationProperty Name="Customer" Type="S.Customer" Partner="Orders">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Tags" Type="Collection(S.Tag)" Partner="Orders"/></EntityType>
        <EntityType Name="Card"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="CustomerID" Type="Edm.Int32"/>
        <NavigationProperty Name="Customer" Type="S.Customer" Nullable="false" Partner="Card">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
        <EntityType Name="Tag"><Key><PropertyRef Name="Code"/></Key>
        <Property Name="Code" Type="Edm.Decimal" Nullable="false" Scale="variable"/>
        <NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Tags"/></EntityType>
        <EntityContainer Name="C">
        <EntitySet Name="Customers" EntityType="S.Customer"><NavigationPropertyBinding Path="Orders" Target="Orders"/>
        <NavigationPropertyBinding Path="Card" Target="Cards"/></EntitySet>
        <EntitySet Name="Orders" EntityType="S.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>
        <NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
        <EntitySet Name="Cards" EntityType="S.Card"><NavigationPropertyBinding Path="Customer" Target="Customers"/></EntitySet>
        <EntitySet Name="Tags" EntityType="S.Tag"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Later versions of the metadata: unchanged, without a set, properties, partners or a constraint, with other
    /// types, multiplicities and keys, with another type of a set, and with new properties, sets and subtypes.
    private static let documents = [
        metadata,
        changed([
            ("<NavigationPropertyBinding Path=\"Card\" Target=\"Cards\"/>", ""),
            (
                "<EntitySet Name=\"Cards\" EntityType=\"S.Card\"><NavigationPropertyBinding Path=\"Customer\" Target=\"Customers\"/></EntitySet>",
                ""
            ),
        ]),
        changed([
            ("<Property Name=\"Note\" Type=\"Edm.String\"/>", ""), ("<Property Name=\"Zip\" Type=\"Edm.Int32\"/>", ""),
            (
                "<EntityType Name=\"BigCustomer\" BaseType=\"S.Customer\"><Property Name=\"Size\" Type=\"Edm.Int64\"/></EntityType>",
                ""
            ),
        ]),
        changed([(" Partner=\"Orders\"", ""), (" Partner=\"Tags\"", ""), (" Partner=\"Customer\"", "")]),
        changed([
            ("<ReferentialConstraint Property=\"CustomerID\" ReferencedProperty=\"ID\"/>", ""),
            ("<Property Name=\"Name\" Type=\"Edm.String\"/>", "<Property Name=\"Name\" Type=\"Edm.Boolean\"/>"),
        ]),
        changed([
            ("Name=\"Orders\" Type=\"Collection(S.Order)\"", "Name=\"Orders\" Type=\"S.Order\""),
            ("Name=\"Card\" Type=\"S.Card\"", "Name=\"Card\" Type=\"Collection(S.Card)\""),
        ]),
        changed([
            (
                "<Key><PropertyRef Name=\"ID\"/></Key>",
                "<Key><PropertyRef Name=\"ID\"/><PropertyRef Name=\"CustomerID\"/></Key>"
            ),
            (
                "<EntityType Name=\"Customer\"><Key><PropertyRef Name=\"ID\"/><PropertyRef Name=\"CustomerID\"/></Key>",
                "<EntityType Name=\"Customer\"><Key><PropertyRef Name=\"Name\"/></Key>"
            ),
        ]),
        changed([
            ("<EntitySet Name=\"Cards\" EntityType=\"S.Card\">", "<EntitySet Name=\"Cards\" EntityType=\"S.Order\">"),
            (
                "<EntityType Name=\"Order\">",
                "<EntityType Name=\"LateOrder\" BaseType=\"S.Order\"><Property Name=\"Days\" Type=\"Edm.Int16\"/></EntityType><EntityType Name=\"Order\">"
            ),
            (
                "<Property Name=\"Zip\" Type=\"Edm.Int32\"/>",
                "<Property Name=\"Zip\" Type=\"Edm.String\"/><Property Name=\"Street\" Type=\"Edm.String\"/>"
            ),
            ("<EntitySet Name=\"Tags\"", "<EntitySet Name=\"Others\" EntityType=\"S.Tag\"/><EntitySet Name=\"Tags\""),
        ]),
    ]

    private static func changed(_ replacements: [(String, String)]) -> String {
        replacements.reduce(metadata) { text, replacement in
            precondition(text.contains(replacement.0), "the metadata has no \(replacement.0)")
            return text.replacing(replacement.0, with: replacement.1)
        }
    }

    private static let navigations = [
        "Customers": [("Orders", "Orders"), ("Card", "Cards")],
        "Orders": [("Customer", "Customers"), ("Tags", "Tags")],
        "Cards": [("Customer", "Customers")], "Tags": [("Orders", "Orders")],
    ]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    // MARK: Random numbers

    mutating func number(_ range: Range<Int>) -> Int { random.number(range.lowerBound...range.upperBound - 1) }
    mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }
    private mutating func pick<T>(_ list: [T]) -> T? { random.pick(list) }

    // MARK: Records

    mutating func next() -> Record {
        defer { nextSequence += 1 }
        let body: Record.Body =
            nextSequence == 1
            ? .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/", metadata: Array(Self.metadata.utf8)))
            : self.body()
        return Record(time: Int64(nextSequence), body: body)
    }

    private mutating func body() -> Record.Body {
        switch number(0..<100) {
        case 0..<3: return .definingQueryAdded(DefiningQuery(name: "Q\(number(0..<3))", query: pick(Self.sets) ?? ""))
        case 3..<4: return .definingQueryRemoved(name: "Q\(number(0..<3))")
        case 4..<8:
            let starts = (0..<number(1..<4)).map {
                QueryStart(query: "Q\($0)", mode: chance(50) ? .full : pick(DownloadMode.allCases) ?? .full)
            }
            return .downloadStarted(starts)
        case 8..<24: return .downloadPage(page())
        case 25..<29:
            return .downloadFinished(
                DownloadFinished(query: "Q\(number(0..<3))", deltaLink: chance(50) ? "d\(number(0..<9))" : nil))
        case 29..<33: return .entitiesRead(images())
        case 33..<40: return prepared()
        case 40..<52: return answered()
        case 52..<53:
            return nextBatch.isMultiple(of: 3)
                ? .batchAccepted(BatchAccepted(batch: nextBatch - 1, monitor: "monitor"))
                : .batchInterrupted(BatchInterrupted(batch: nextBatch - 1, reason: "cut"))
        case 54..<56: return .operationsReleased(operations.filter { _ in chance(20) })
        case 24..<25:
            return .uploadPostponed(
                UploadPostponed(notBefore: Int64(number(0..<9)), attempt: number(1..<5), reason: "busy"))
        case 57..<60: return .operationsUndone(undoable())
        case 60..<62: return .operationsRedone(undone.filter { _ in chance(70) })
        case 53..<54: return .lost
        case 56..<57: return chance(50) ? .lost : .unknown(kind: 99, payload: [1, 2, 3])
        case 62..<64:
            return .deliveryChanged(operations.filter { _ in chance(20) }, to: pick(Delivery.allCases) ?? .draft)
        case 64..<67: return resolved()
        case 67..<68: return .entitiesMissing((0..<number(1..<3)).map { _ in someEntity() })
        case 68..<69:
            return .serviceInstalled(
                ServiceDescription(root: "http://127.0.0.1/", metadata: Array((pick(Self.documents) ?? "").utf8)))
        case 69..<70:
            return .operationsIncompatible(
                operations.filter { _ in chance(20) }.map {
                    IncompatibleOperation(operation: $0, refusal: Refusal(modelChanged: "It does not fit."))
                })
        case 72..<73:
            return .linksLeftOpen(
                (0..<number(0..<3)).map {
                    OpenLink(query: "Q\($0)", set: "Orders", source: "a\($0)", navigation: "Customer", target: "b")
                })
        case 74..<76:
            return .entitiesQuarantined(
                (0..<number(1..<3)).map {
                    QuarantinedEntity(
                        query: "Q\(number(0..<3))", set: "Orders", name: chance(50) ? "Orders(\($0))" : nil,
                        reason: .unreadable, message: "No number.", hidesOthers: chance(20))
                })
        case 73..<74:
            return .operationsAmended(
                operations.filter { _ in chance(10) }.map {
                    AmendedOperation(operation: $0, content: Operation(action()))
                })
        case 70..<72: return .streamsStored((0..<number(1..<3)).map { _ in stream() })
        default:
            operations.append(nextSequence)
            return .operation(
                Operation(
                    action(), transactionID: chance(10) ? "T\(number(0..<3))" : nil,
                    customTag: chance(10) ? "tag" : nil,
                    isUnmodifiable: chance(5), uploadCategory: chance(5) ? .named("C") : nil,
                    delivery: chance(5) ? .localOnly : .queued,
                    stream: chance(5) ? StreamWrite(property: pick([nil, "S"]) ?? nil, content: content()) : nil,
                    call: chance(8) ? call() : nil))
        }
    }

    /// Returns a call, also of an action that the metadata do not have.
    private mutating func call() -> ActionCall {
        var call = ActionCall("Shop.Call", answer: chance(30) ? .boundEntity : .byKey)
        switch number(0..<4) {
        case 0: call.binding = .entity(someEntity())
        case 1: call.binding = .property("Orders", of: someEntity())
        case 2: call.binding = .set("Orders", type: nil)
        default: break
        }
        if chance(50) {
            call.arguments = [.init("a", .entities([.reference(someEntity()), .reference(someEntity())]))]
        }
        return call
    }

    /// Returns a page. Half of the pages contain more than images, also for entities and links that do not exist.
    private mutating func page() -> DownloadPage {
        var page = DownloadPage(query: "Q\(number(0..<3))", entities: images())
        guard chance(50) else { return page }
        if chance(30) { page.entities = [] }
        page.unchanged = some(50)
        page.removed = some(40)
        page.left = some(40)
        page.links = (0..<number(0..<4)).map { _ in changedLink() }
        if chance(30) { page.next = "n\(number(0..<9))" }
        return page
    }

    private mutating func some(_ percent: Int) -> [EntityID] {
        chance(percent) ? (0..<number(1..<4)).map { _ in someEntity() } : []
    }

    private mutating func changedLink() -> DownloadPage.ChangedLink {
        let source = pick(entities)
        let navigation = source.flatMap { pick(Self.navigations[$0.set] ?? []) }
        let targets = entities.filter { $0.set == navigation?.1 }.map(\.id)
        let isAdded = chance(60)
        // Without a target, all links of the property are removed.
        let target = !isAdded && chance(30) ? nil : chance(80) ? pick(targets) ?? someEntity() : someEntity()
        return .init(
            source: source?.id ?? someEntity(), navigation: navigation?.0 ?? "Orders", target: target, isAdded: isAdded)
    }

    private mutating func stream() -> StreamImage {
        var image = StreamImage(
            entity: someEntity(), property: chance(50) ? "S" : nil, content: content(), etag: chance(50) ? "e" : nil)
        switch image.entity.rawValue % 4 {
        case 0: image.reported = .init(readLink: "media", etag: image.etag)
        case 1: image.reported = .init(editLink: "edit")
        case 2: image.reported = .init()
        default: break
        }
        return image
    }

    private mutating func content() -> StreamContent? {
        guard chance(80), let digest = StreamDigest(Array(repeating: UInt8(number(0..<9)), count: 32)) else {
            return nil
        }
        return StreamContent(digest: digest, byteCount: UInt64(number(0..<9)), mediaType: "image/gif")
    }

    private mutating func someEntity() -> EntityID { EntityID(rawValue: UInt64(number(1..<Int(nextEntity) + 2))) }

    /// Returns a resolution, also without a conflict, and with operations on other entities.
    private mutating func resolved() -> Record.Body {
        let takenBack = operations.filter { _ in chance(5) }
        undone += takenBack
        return .conflictResolved(
            ConflictResolved(
                entity: someEntity(), decision: pick(ConflictResolved.Decision.allCases) ?? .call,
                dropped: operations.filter { _ in chance(20) }.map {
                    .init(operation: $0, properties: ["Name", "Note"], navigations: ["Customer"])
                }, takenBack: takenBack, released: operations.filter { _ in chance(10) }))
    }

    /// Returns operations to undo, also undone, ended and unknown ones.
    private mutating func undoable() -> [SequenceNumber] {
        let chosen = operations.filter { _ in chance(20) } + (chance(20) ? [nextSequence + 5, 1] : [])
        undone += chosen
        return chosen
    }

    private mutating func prepared() -> Record.Body {
        defer { nextBatch += 1 }
        let chosen = operations.filter { _ in chance(40) }
        return .batchPrepared(
            BatchPrepared(
                batch: nextBatch,
                changeSets: chosen.enumerated().map { [.init(contentID: "\($0 + 1)", operation: $1)] },
                sent: nextBatch.isMultiple(of: 2)
                    ? []
                    : chosen.indices.map {
                        [.init(contentID: "\($0 + 1)", method: "POST", url: "A", headers: [], body: [])]
                    }))
    }

    private mutating func answered() -> Record.Body {
        let chosen = operations.filter { _ in chance(40) }
        var outcomes: [BatchAnswered.Outcome] = []
        for operation in chosen {
            let result: BatchAnswered.Result
            switch number(0..<10) {
            case 0..<6:
                result = .confirmed(images: chance(60) ? images(1) : [])
                operations.removeAll { $0 == operation }
            case 6..<8:
                result = .rejected(
                    Refusal(
                        status: 400, code: "C", message: "m", innerError: chance(50) ? "{}" : nil, method: "POST",
                        url: "Orders", requestBody: chance(50) ? "{}" : nil))
            case 8 where number(0..<10) < 5:
                result = .deferred(
                    Refusal(status: 503, code: "", message: "m", method: "POST", url: "Orders"),
                    attempts: number(1..<9))
            case 8: result = .notProcessed
            default: result = .inDoubt("half a response")
            }
            outcomes.append(.init(operation: operation, result: result))
        }
        return .batchAnswered(BatchAnswered(batch: nextBatch &- 1, outcomes: outcomes))
    }

    // MARK: Operations

    private mutating func action() -> Operation.Action {
        guard let (id, set) = pick(entities), !chance(35) else {
            let set = pick(Self.sets) ?? ""
            let creation = creation(set, depth: 0)
            let parent = pick(entities).map {
                Parent(entity: $0.id, navigation: Self.navigations[$0.set]?.first?.0 ?? "")
            }
            return .create(creation, parent: chance(20) ? parent : nil)
        }
        switch number(0..<10) {
        case 0..<4: return .update(id, changes: values(set), bindings: bindings(set))
        case 4..<6: return .delete(id)
        default:
            guard let (name, target) = pick(Self.navigations[set] ?? []),
                let to = pick(entities.filter { $0.set == target })
            else { return .update(id, changes: values(set), bindings: []) }
            let link = Link(from: id, navigation: name, to: to.id)
            return chance(30) ? .deleteLink(link) : chance(50) ? .createLink(link) : .updateLink(link)
        }
    }

    private mutating func newEntity(_ set: String) -> EntityID {
        defer { nextEntity += 1 }
        let id = EntityID(rawValue: nextEntity)
        entities.append((id, set))
        return id
    }

    private mutating func creation(_ set: String, depth: Int) -> Creation {
        let bindings = bindings(set)
        var creation = Creation(
            entity: newEntity(set), set: set, type: type(set), values: values(set), bindings: bindings)
        if depth < 2, chance(20), let (name, target) = pick(Self.navigations[set] ?? []) {
            creation.inline = [.init(navigation: name, entities: [self.creation(target, depth: depth + 1)])]
        }
        return creation
    }

    private mutating func bindings(_ set: String) -> [Binding] {
        guard chance(40), let (name, target) = pick(Self.navigations[set] ?? []),
            let to = pick(entities.filter { $0.set == target })
        else { return [] }
        return [Binding(navigation: name, targets: [to.id])]
    }

    private mutating func type(_ set: String) -> String {
        set == "Customers" && chance(30) ? "S.BigCustomer" : "S." + set.dropLast()
    }

    // MARK: Images

    private mutating func images(_ count: Int? = nil) -> [EntityImage] {
        var images: [EntityImage] = []
        for _ in 0..<(count ?? number(1..<5)) {
            let set = pick(Self.sets) ?? ""
            let known = pick(entities.filter { $0.set == set })?.id
            let id = known.flatMap { chance(70) ? $0 : nil } ?? newEntity(set)
            var links: [EntityImage.ImageLinks] = []
            if chance(40), let (name, target) = pick(Self.navigations[set] ?? []) {
                let targets = entities.filter { $0.set == target && chance(20) }.map(\.id)
                links = [.init(navigation: name, targets: targets, isComplete: chance(50))]
            }
            images.append(
                EntityImage(
                    entity: id, set: set, type: type(set), values: values(set),
                    etag: chance(50) ? "\(number(0..<9))" : nil,
                    editLink: chance(10) ? "Other(\(id.rawValue))" : nil, links: links))
        }
        return images
    }

    // MARK: Values

    private mutating func values(_ set: String) -> PropertyValues {
        var values: PropertyValues = [:]
        func decimal(_ text: String) -> Value { DecimalValue(text).map(Value.decimal) ?? .null }
        let decimals = ["1.50", "1.5", "0", "-0.00", "12345678901234567890.123", "9", "10"]
        let times = ["2024-03-10T08:00:00+02:00", "2024-03-10T06:00:00Z", "1969-12-31T23:59:59.1234567-11:30"]
        if set == "Tags" {
            if chance(80) { values["Code"] = decimal(pick(decimals) ?? "0") }
            return values
        }
        if chance(60) { values["ID"] = .integer(Int64(number(1..<12))) }
        if set != "Customers", chance(50) {
            values["CustomerID"] = chance(25) ? .null : .integer(Int64(number(1..<12)))
        }
        switch set {
        case "Customers":
            if chance(50) {
                values["Name"] =
                    chance(20) ? .null : .string(pick(["a", "O'Neil", "", "é", "e\u{301}", "x\u{0}y"]) ?? "")
            }
            if chance(50) { values["Rating"] = decimal(pick(decimals) ?? "0") }
            if chance(50) { values["Since"] = GlobalDateTime(pick(times) ?? "").map(Value.dateTimeOffset) ?? .null }
            if chance(30) {
                values["Address"] = .complex(
                    ComplexValue(properties: ["City": .string("c"), "Zip": .integer(Int64(number(0..<9)))]))
            }
        case "Orders":
            if chance(50) { values["Amount"] = decimal(pick(decimals) ?? "0") }
            if chance(50) { values["Note"] = chance(30) ? .null : .string("n\(number(0..<9))") }
        default: break
        }
        return values
    }
}
