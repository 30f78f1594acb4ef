import EDM
import ODataQuery
import OperationLog
import Operations
import TestSupport
import Testing

@testable import LogInspection

@Suite struct ReportTests {
    @Test(arguments: [0, 1, 3, 70_000, 200_000]) func `deflated data are inflated to the original`(length: Int) throws {
        let seed: UInt64 = 9
        var state = seed
        var bytes: [UInt8] = []
        while bytes.count < length {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let run = Array("operation \(state >> 50) of the log;".utf8)
            bytes += state >> 60 == 0 ? [UInt8(truncatingIfNeeded: state >> 20)] : run
        }
        bytes = Array(bytes.prefix(length))
        let packed = RawDeflate.compress(bytes)
        #expect(RawDeflate.decompress(packed) == bytes)
        if length > 1_000 { #expect(packed.count * 2 < length) }
    }

    private func data(_ page: Report.Page) throws -> JSONValue {
        let mark = #"<script id="data" type="text/plain">"#
        let start = try #require(page.html.firstRange(of: mark)).upperBound
        let end = try #require(page.html[start...].firstRange(of: "</script>")).lowerBound
        let packed = try #require(Base64.decode(Array(page.html[start..<end].utf8)))
        return try JSONValue.parse(try #require(RawDeflate.decompress(packed)))
    }

    private func report(_ log: SampleLog, bytes: Int = 4_900_000) async throws -> Report.Page {
        var limits = Report.Limits()
        limits.bytes = bytes
        return try await Report(InspectedStore(directory: log.directory.path), limits: limits).page()
    }

    @Test func `a report contains the records, their outcomes, and the batches with their requests`() async throws {
        let log = try SampleLog()
        let request = BatchPrepared.SentRequest(
            contentID: "1", method: "POST", url: "Orders", headers: [.init(name: "A", value: "b")],
            body: Array("{}".utf8))
        try log.append(
            create(1, "Orders", ["Note": .string("x")]), create(2, "Orders"),
            .batchPrepared(
                BatchPrepared(
                    batch: 1,
                    changeSets: [[.init(contentID: "1", operation: 1)], [.init(contentID: "2", operation: 2)]],
                    sent: [[request]])),
            answered(1, (1, .confirmed(images: [])), (2, .rejected(refusal("no")))))
        let data = try data(try await report(log))
        #expect(data["seq"]?.array?.map(\.integer) == [1, 1, 1, 1])
        #expect(data["text"]?.string?.hasPrefix("create Orders(~1) Note='x'\ncreate Orders(~2)\n") == true)
        #expect(data["ents"]?.string == "1\n2\n\n")
        let outcomes = try #require(data["fates"]?.array)
        #expect(
            data["fate"]?.array?.map { outcomes[Int($0.integer ?? 0)].string } == ["confirmed", "rejected", "", ""])
        let batch = try #require(data["batches"]?.array?.first)
        #expect(batch["state"]?.string == "rejected" && batch["prepared"]?.integer == 3 && batch["ended"]?.integer == 4)
        #expect(batch["outcomes"]?.array?.map { $0["message"]?.string } == ["no"])
        #expect(batch["requests"]?.array?.first?["headers"]?.string == "A: b\n")
        #expect(data["sizes"]?["kinds"]?.array?.first?["name"]?.string == "operation")
        #expect(data["entity"]?["id"]?.array?.map(\.integer) == [1, 1])
    }

    @Test func `no content of the log is interpreted as markup, and the page sends no request`() async throws {
        let hostile = "</script><script>alert(1)</script>'\"<img src=x onerror=alert(1)>\u{202E}&amp;"
        let log = try SampleLog()
        try log.append(
            create(1, hostile, [hostile: .string(hostile)]), prepared(1, 1),
            answered(1, (1, .rejected(refusal(hostile)))),
            .definingQueryAdded(DefiningQuery(name: hostile, query: hostile)))
        let page = try await report(log)
        #expect(!page.html.contains("alert(1)") && !page.html.contains("onerror") && !page.html.contains("\u{202E}"))
        #expect(ReportPage.escaped(hostile).allSatisfy { !"<>\"'".contains($0) })
        for mark in ["src=", "href=", "http:", "https:", "url(", "@import", "innerHTML", "eval(", "fetch("] {
            #expect(!page.html.contains(mark), "\(mark)")
        }
    }

    @Test func `numbers that JavaScript cannot represent are omitted, and the report states it`() async throws {
        let log = try SampleLog()
        let largest: UInt64 = 9_007_199_254_740_991
        try log.append(
            create(1, "Orders"), create(largest, "Orders"), create(largest + 1, "Orders"), prepared(largest + 1, 1),
            .entitiesMissing([id(largest), id(largest + 1), id(.max)]))
        let page = try await report(log)
        let data = try data(page)
        #expect(data["ents"]?.string == "1\n\(largest)\n\n\n\(largest)")
        #expect(data["entity"]?["id"]?.array?.map(\.integer) == [1, Int64(largest - 1)])
        #expect(data["batches"]?.array?.isEmpty == true)
        let notice = "Numbers above \(largest) are omitted at 5 places, because browsers cannot represent them."
        #expect(page.notices.contains(notice), "\(page.notices)")
        #expect(page.html.contains("if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) continue;"))
    }

    @Test func `lost records of a repaired log are shown without damage`() async throws {
        let log = try SampleLog()
        try log.append(create(1, "Orders"), .lost, create(2, "Orders"))
        let page = try await report(log)
        #expect(!page.isDamaged && !page.notices.contains { $0.contains("damaged") })
        #expect(try data(page)["kinds"]?.array?.contains { $0.string == "lost" } == true)
        let made = try await Report(InspectedStore(directory: log.directory.path), isDamaged: true).page()
        #expect(made.isDamaged && made.notices.first == "The log is damaged; the report shows the readable records.")
    }

    @Test func `a report that would be too large truncates values and states it`() async throws {
        let log = try SampleLog()
        var state: UInt64 = 1
        for number in 1...2_000 {
            var text = ""
            while text.utf8.count < 40 {
                state = state &* 6_364_136_223_846_793_005 &+ 1
                text += String(state >> 20, radix: 36)
            }
            try log.append(create(UInt64(number), "Orders", ["Note": .string(text)]))
        }
        let whole = try await report(log)
        let small = try await report(log, bytes: whole.html.utf8.count - 20_000)
        #expect(small.html.utf8.count <= whole.html.utf8.count - 20_000)
        #expect(!whole.notices.contains { $0.hasPrefix("To keep the page small") })
        let notice = try #require(small.notices.first { $0.hasPrefix("To keep the page small, 2000 of 2000 records") })
        #expect(try data(small)["notices"]?.array?.contains(.string(notice)) == true)
    }

    @Test func `ranges of entities are written in a short form`() {
        #expect(ReportEncoding.stretches([]) == "")
        #expect(ReportEncoding.stretches([id(5), id(6), id(7), id(2), id(9)]) == "5-7,2,9")
        #expect(ReportEncoding.stretches([id(.max), id(0)]) == "18446744073709551615,0")
    }
}
