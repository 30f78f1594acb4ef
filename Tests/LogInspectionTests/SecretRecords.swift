import EDM
import LogInspection
import ODataQuery
import OfflineStore
import OperationLog
import Operations
import SeededRandom
import SyncCore
import TestSupport
import Testing

/// Records that contain secret texts, numbers and dates.
struct SecretRecords {
    private var random: SeededRandom
    private(set) var secrets: [String] = []
    private var entity: UInt64 = 0
    private var batch: BatchID = 0
    private(set) var root = ""

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func draw(_ bound: UInt64) -> UInt64 { random.next() % bound }

    mutating func text() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let text = "s" + String(decoding: (0..<13).map { _ in letters[Int(draw(62))] }, as: UTF8.self)
        secrets.append(text)
        return text
    }

    mutating func number() -> Int64 {
        let number = Int64(draw(800_000_000_000_000)) + 100_000_000_000_000
        secrets.append(String(number))
        return number
    }

    mutating func guid() -> GuidValue {
        let guid = GuidValue(high: draw(.max), low: draw(.max))
        secrets.append(guid.description)
        return guid
    }

    /// Returns a date in the seventeenth century, in which no record was made.
    mutating func date() -> LocalDate {
        let date = LocalDate(daysSince1970: -130_000 + Int64(draw(30_000)))!
        secrets.append(date.description)
        return date
    }

    static let metadata = Array(
        """
        <?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
        <EntityType Name="Thing" HasStream="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"/>\
        <Property Name="Name" Type="Edm.String"/><Property Name="Code" Type="Edm.String" MaxLength="2"/>\
        <Property Name="Small" Type="Edm.Byte"/><Property Name="Price" Type="Edm.Decimal" Precision="20" Scale="4"/>\
        <Property Name="Ratio" Type="Edm.Double"/><Property Name="Token" Type="Edm.Guid"/><Property Name="Born" Type="Edm.Date"/>\
        <Property Name="At" Type="Edm.DateTimeOffset"/><Property Name="Since" Type="Edm.TimeOfDay" Precision="3"/>\
        <Property Name="Length" Type="Edm.Duration"/><Property Name="Bytes" Type="Edm.Binary"/>\
        <Property Name="Place" Type="Shop.Place"/><Property Name="Tags" Type="Collection(Edm.String)"/>\
        <Property Name="Color" Type="Shop.Color"/></EntityType>\
        <ComplexType Name="Place"><Property Name="Street" Type="Edm.String"/></ComplexType>\
        <EnumType Name="Color"><Member Name="Red"/><Member Name="Blue"/></EnumType>\
        <EntityContainer Name="All"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer></Schema>\
        </edmx:DataServices></edmx:Edmx>
        """.utf8)

    mutating func service() -> Record.Body {
        root = "https://\(text()).example/\(text())/"
        let annotated = String(decoding: Self.metadata, as: UTF8.self)
            .replacing(
                "<Property Name=\"Name\"",
                with: "<Property sap:label=\"\(text())\" DefaultValue=\"\(text())\" Name=\"Name\""
            )
            .replacing(
                "</Schema>",
                with: """
                    <Annotations Target="Shop.Thing"><Annotation Term="Core.Description" String="\(text())"><String>\(text())</String>\
                    </Annotation></Annotations><!-- \(text()) > --></Schema>
                    """
            )
            .replacing("xmlns:edmx=", with: "xmlns:sap=\"http://www.sap.com/Protocols/SAPData\" xmlns:edmx=")
        return .serviceInstalled(ServiceDescription(root: root, metadata: Array(annotated.utf8)))
    }

    mutating func secretValues() -> PropertyValues {
        let at = GlobalDateTime(
            local: LocalDateTime(date: date(), time: LocalTime(hour: 3, minute: 4, second: 5)!), offsetMinutes: 0)!
        return [
            "ID": .integer(number()), "Name": .string("Dear \(text()), meet \"\(text())\""), "Token": .guid(guid()),
            "Price": .decimal(DecimalValue("\(number()).25")!), "Born": .date(date()), "At": .dateTimeOffset(at),
            "Bytes": .binary(Array(text().utf8)),
            "Place": .complex(ComplexValue(properties: ["Street": .string(text())])),
            "Tags": .collection([.string(text()), .string(text())]), "Color": .enumeration("Red"),
            "\(text())": .string(text()),
        ]
    }

    /// Returns few different values of each property, so that many are equal.
    mutating func fewValues() -> PropertyValues {
        let n = draw(40)
        let time = LocalTime(picoseconds: Int64(draw(40)) * 1_001_000_000_000)!
        return [
            "ID": .integer(Int64(draw(60)) * 7_919 - 200_000),
            "Name": .string(n == 0 ? "" : "n\(draw(30))\(n % 3 == 0 ? "é" : "z")"),
            "Code": .string(String(UnicodeScalar(UInt8(65 + draw(26))))), "Small": .integer(Int64(draw(256))),
            "Price": .decimal(DecimalValue("\(Int64(draw(50)) - 25).\(draw(4))")!),
            "Ratio": .double(Double(draw(50)) / 7 - 3),
            "Token": .guid(GuidValue(high: draw(9), low: draw(9))),
            "Born": .date(LocalDate(daysSince1970: Int64(draw(90)) - 45)!),
            "At": .dateTimeOffset(
                GlobalDateTime(millisecondsSince1970: Int64(draw(99)) * 500, offsetMinutes: Int(draw(3)) * 60)!),
            "Since": .timeOfDay(time),
            "Length": .duration(DayTimeDuration(isNegative: draw(2) == 0, seconds: Int64(draw(50)))!),
            "Bytes": .binary((0..<draw(3)).map { _ in UInt8(draw(256)) }),
        ]
    }

    private func percent(_ text: String) -> String {
        text.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
    }

    private mutating func image() -> EntityImage {
        entity += 1
        return EntityImage(
            entity: id(entity), set: "Things", type: "Shop.Thing", values: secretValues(), etag: "W/\"\(text())\"",
            editLink: "$\(number())/Things('\(percent(text()))')/~\(number())/\(text())")
    }

    private mutating func refusal() -> Refusal {
        Refusal(
            status: 409, code: text(), message: "The customer '\(text())' of \(number()) is unknown.",
            innerError: #"{"detail":"\#(text())","n":\#(number())}"#, method: "POST",
            url: "Things?$filter=Name eq '\(text())' or ID eq \(number())",
            requestBody:
                #"{"Name":"\#(text())","\#(text())":\#(number()),"Token":"\#(guid())","x@odata.bind":"Things(~\#(number()))","#
                + #""id":"~\#(number())","uri":"$\#(number())","type":"\#(number())","#
                + #""__metadata":{"uri":"$\#(number())","type":"\#(text())"}}"#
        )
    }

    /// Returns numbers after markers, at places of an entity ID, a Content-ID or an alias.
    private mutating func hidden() -> String {
        "sap-token=~\(number())&y=$\(number())&@\(number())=1&z=@\(number())&k=Things(~\(number()))"
    }

    private mutating func stream() -> StreamContent {
        StreamContent(
            digest: StreamDigest((0..<32).map { _ in UInt8(draw(256)) })!, byteCount: UInt64(number()),
            mediaType: "image/\(text())",
            name: text())
    }

    /// Returns one body of each kind.
    mutating func bodies() -> [Record.Body] {
        batch += 1
        let image = image()
        let query = text()
        let operation = Operation(
            .create(
                Creation(entity: id(entity + 1_000_000), set: "Things", type: "Shop.Thing", values: secretValues()),
                parent: nil),
            transactionID: text(), baseETag: text(), customTag: text(),
            headers: [.init(name: "X-\(text())", value: text()), .init(name: "If-Match", value: text())],
            headerTemplates: [
                HeaderTemplate(name: text(), parts: [.text(text()), .key(image.entity, property: "ID")])
            ],
            uploadCategory: .named(text()))
        let written = Operation(
            .update(image.entity, changes: [:], bindings: []), stream: StreamWrite(content: stream()))
        let called = Operation(
            .update(image.entity, changes: [text(): .string(text())], bindings: []),
            call: ActionCall(
                text(), on: .set(text(), type: text()),
                [
                    .init(text(), .value(.string(text()))), .init(text(), .value(.integer(number()))),
                    .init(
                        "other", .entities([.content(type: "Shop.Thing", secretValues()), .reference(image.entity)])),
                ]))
        let sent = BatchPrepared.SentRequest(
            contentID: "1", method: "POST", url: "\(root)Things('\(text())')?\(text())=\(number())&\(hidden())",
            headers: [
                .init(name: "Repeatability-Request-ID", value: guid().description),
                .init(name: "Content-Type", value: text()),
            ],
            body: Array(
                #"{"Name":"\#(text())","Born":"\#(date())","ID":"\#(number())","Bytes":"\#(Base64.encode(Array(text().utf8), .standard))"}"#
                    .utf8))
        return [
            .definingQueryAdded(
                DefiningQuery(
                    name: query, query: "Things?\(hidden())&$filter=Name eq '\(percent(text()))' and Token eq \(guid())"
                )),
            .downloadStarted(queries: [query]),
            .downloadPage(
                DownloadPage(query: query, entities: [image], next: "\(root)Things?$skiptoken=\(text())&\(hidden())")),
            .downloadFinished(
                DownloadFinished(
                    query: query, deltaLink: "https://\(text())/$\(number())?\(hidden())&$deltatoken='\(text())'")),
            .operation(operation), .operation(written), .operation(called),
            .batchPrepared(
                BatchPrepared(batch: batch, changeSets: [[.init(contentID: "1", operation: 6)]], sent: [[sent]])),
            .batchAccepted(BatchAccepted(batch: batch, monitor: "https://\(text())/\(text())")),
            .batchAnswered(
                BatchAnswered(
                    batch: batch,
                    outcomes: [
                        .init(operation: 6, result: .rejected(refusal())),
                        .init(operation: 7, result: .deferred(refusal(), attempts: 2)),
                        .init(operation: 8, result: .inDoubt("Nobody knows \(text()).")),
                    ])),
            .batchInterrupted(BatchInterrupted(batch: batch, reason: text())),
            .uploadPostponed(UploadPostponed(notBefore: 1, attempt: 1, reason: "wait for \(text())")),
            .linksLeftOpen([
                OpenLink(
                    query: query, set: "Things", source: "Things(\(number()))", navigation: "Name",
                    target: "Things('\(text())')")
            ]),
            .entitiesQuarantined([
                QuarantinedEntity(
                    query: query, set: "Things", name: "Things('\(text())')", reason: .unreadable, path: "/\(text())",
                    message: text(), text: text())
            ]),
            .operationsIncompatible([IncompatibleOperation(operation: 6, refusal: refusal())]),
            .streamsStored([
                StreamImage(
                    entity: image.entity, content: stream(), etag: text(),
                    reported: .init(readLink: "https://\(text())/\(text())", editLink: text(), etag: text()))
            ]),
            .operationsAmended([AmendedOperation(operation: 6, content: operation)]),
            .unknown(kind: 199, payload: Array(text().utf8)), .definingQueryRemoved(name: query),
        ]
    }
}
