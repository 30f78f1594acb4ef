import EDM
import Foundation
import Operations
import TestSupport
import Testing

/// A headless Chromium browser that opens pages.
struct Browser {
    private static let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

    /// The path of the browser: `TIDELOG_BROWSER`, or the first one found in `PATH`, or nil.
    static let path: String? = {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["TIDELOG_BROWSER"] { return named }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }()

    /// Returns the document after the scripts of the page ran, and the messages on the console.
    static func open(_ page: URL, fragment: String, profile: URL) throws -> (document: String, console: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? "")
        process.arguments = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
            "--user-data-dir=\(profile.path)", "--window-size=1200,800", "--virtual-time-budget=20000", "--dump-dom",
            page.absoluteString + "#" + fragment,
        ]
        let output = profile.appendingPathExtension("out")
        let error = profile.appendingPathExtension("err")
        for file in [output, error] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: error)
        try process.run()
        process.waitUntilExit()
        let console = String(decoding: try Data(contentsOf: error), as: UTF8.self)
            .split(separator: "\n").filter { $0.contains("CONSOLE") }.joined(separator: "\n")
        return (String(decoding: try Data(contentsOf: output), as: UTF8.self), console)
    }
}

/// Reports as displayed by a browser.
@Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: Browser.path != nil, "there is no Chromium to open reports in"))
struct ReportBrowserTests {
    private func page(_ workspace: Workspace, _ name: String, _ fragment: String) throws -> String {
        let (document, console) = try Browser.open(
            workspace.folder.appendingPathComponent(name), fragment: fragment,
            profile: workspace.folder.appendingPathComponent("profile-\(UUID().uuidString)"))
        #expect(console == "")
        #expect(document.contains("data-ready=\"true\""), "\(fragment): \(document.suffix(400))")
        return document
    }

    /// Returns the number of rows in the list, and the number of rows that have an element in the document.
    private func rows(_ document: String) -> (all: Int, made: Int) {
        let sizes = document.matches(of: /aria-setsize="(\d+)"/)
        return (sizes.first.flatMap { Int($0.output.1) } ?? 0, sizes.count)
    }

    @Test func `the report shows any values as text and finds and opens its entries`() throws {
        let server = try SandboxServer(
            faults: #"[{"effect":"refuse","status":409,"method":"POST","url":"Customers","part":"any","times":9}]"#)
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        let hostile = #"</script><img src=x onerror=console.error(1)>'\"\u202e"#
        _ = try workspace.output("create", "Customers", #"{"Name":"\#(hostile)"}"#)
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"needle in hay"}"#)
        _ = try workspace.tidelog("push")
        let made = try workspace.output("report", "-o", "r.html")
        #expect(made.replacing(/\d+ bytes/, with: "N bytes") == "r.html: N bytes.\n")

        let overview = try page(workspace, "r.html", "")
        #expect(overview.contains("1 confirmed") && overview.contains("1 rejected"))
        #expect(overview.contains("InjectedFault") && !overview.contains("<img"))
        let errors = try page(workspace, "r.html", "view=errors")
        #expect(errors.contains("&lt;/script&gt;&lt;img src=x onerror=console.error(1)&gt;"))
        #expect(errors.contains(#"\u{202e}"#) && !errors.contains("\u{202E}"))
        let found = try page(workspace, "r.html", "search=needle")
        // The operation, the batch in which the service did not process it, and the batch that confirmed it.
        #expect(rows(found).all == 3)
        #expect(found.contains("<mark>needle</mark> in hay"))
        let batch = try page(workspace, "r.html", "view=batches&select=batch1")
        #expect(batch.contains("PATCH Orders(1)") && batch.contains("Rebuilt from the log"))
        #expect(try page(workspace, "r.html", "view=entities&select=~4").contains("update Orders(~4)"))
        for view in ["timeline", "conflicts", "size"] {
            #expect(try page(workspace, "r.html", "view=\(view)").contains("id=\"panel-\(view)\""))
        }

        let redacted = try workspace.tidelog("report", "--redacted", "-o", "s.html", "--json")
        #expect(redacted.output.contains("Values are redacted: only their equality and order are preserved."))
        let hidden = try page(workspace, "s.html", "view=operations&kind=all")
        #expect(!hidden.contains("needle") && hidden.contains("update Orders(~4) Note="))
    }

    @Test func `a report of 100,000 operations is below 5 MB, lists them and searches them`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("export", "-o", "small.jsonl")
        try workspace.write(LongExport(workspace.read("small.jsonl"), operations: 100_000).text, to: "long.jsonl")
        _ = try workspace.output("import", "long.jsonl", "--store", "long")
        let made = try workspace.output("report", "--store", "long", "-o", "r.html")
        let size = try #require(FileManager.default.attributesOfItem(atPath: workspace.path("r.html"))[.size] as? Int)
        print("Report of 100,000 operations: \(size) bytes. \(made)")
        #expect(size < 5_000_000)
        let all = rows(try page(workspace, "r.html", "view=operations"))
        #expect(all.all == 100_000 && all.made > 10 && all.made < 100)
        let found = try page(workspace, "r.html", "search=seldom-51966")
        #expect(rows(found).all == 1 && found.contains("<mark>seldom-51966</mark>"))
        #expect(rows(try page(workspace, "r.html", "view=entities")).all > 20_000)
        #expect(try page(workspace, "r.html", "view=timeline").contains("canvas"))
    }
}

/// An export with many operations appended.
private struct LongExport {
    let text: String

    init(_ export: String, operations: Int) {
        var lines = export.split(separator: "\n").map(String.init)
        lines.removeLast()
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ kind: UInt8, _ payload: [UInt8]) {
            for shift in stride(from: 0, to: 64, by: 8) {
                hash = (hash ^ (UInt64(kind) >> UInt64(shift) & 0xFF)) &* 0x100_0000_01b3
            }
            for byte in payload { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01b3
        }
        for line in lines.dropFirst() {
            guard let record = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let kind = record["kindNumber"] as? Int,
                let payload = (record["payload"] as? String).flatMap({ Data(base64Encoded: $0) })
            else { continue }
            add(UInt8(kind), Array(payload))
        }
        let first = lines.count
        var random: UInt64 = 5
        for index in 0..<operations {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let time = 1_795_000_000_000 + Int64(index) * 37 + Int64(random >> 60)
            let note = "seldom-\(index) lot \(random >> 52)"
            let entity = EntityID(rawValue: 100 + UInt64(index / 4))
            let action: Operations.Operation.Action =
                index % 4 == 0
                ? .create(
                    Creation(
                        entity: entity, set: "Orders", type: "Shop.Order",
                        values: ["Note": .string(note), "Quantity": .integer(Int64(random >> 58))]), parent: nil)
                : .update(entity, changes: ["Note": .string(note)], bindings: [])
            let record = RecordCodec.encode(Record(time: time, body: .operation(Operations.Operation(action))))
            add(record.kind, record.payload)
            let payload = Data(record.payload).base64EncodedString()
            lines.append(#"{"sequence":\#(first + index),"kindNumber":\#(record.kind),"payload":"\#(payload)"}"#)
        }
        let digits = String(hash, radix: 16)
        let checksum = String(repeating: "0", count: 16 - digits.count) + digits
        let count = lines.count - 1
        lines.append(#"{"end":true,"lastSequence":\#(count),"records":\#(count),"checksum":"\#(checksum)"}"#)
        text = lines.joined(separator: "\n") + "\n"
    }
}
