import EDM
import ODataSandbox
import ODataWire
import SeededRandom
import Testing

/// The service responds to every request, and a request that it rejects has no effect.
@Suite struct HostileInputTests {
    /// A xorshift generator, which produces the same requests for the same seed.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    private static let seeds = [
        "Customers(1)/Orders?$filter=Amount%20gt%201&$orderby=Note&$top=1&$skip=1", "Orders(1)/$links/Customer",
        "Customers(1)/Orders/$ref?$id=Orders(1)", "Prices(Currency='EUR',Day=1)", "Photos(1)/$value", "$batch",
        "Visits(11111111-2222-3333-4444-555555555555)", "Customers?$expand=Orders($expand=Customer)&$skiptoken=1-2-3",
        "$1/Orders", "Customers(1)/Address/City/$value", "Turnover(customer=@c)?@c=1", "TopCustomers?count=2",
        "Orders(1)/Shop.Annotate", "Orders?$skip=9223372036854775807&$top=9223372036854775807",
    ]
    private static let bodies = [
        #"{"Name":"n","Orders":[{"Note":"x","Amount":1.5}],"Tags":["a"],"Since":"2020-01-01"}"#,
        #"{"Customer@odata.bind":"Customers(1)","Total":9223372036854775807,"PlacedAt":"2020-01-01T00:00:00Z"}"#,
        #"{"Customer":{"__metadata":{"uri":"Customers(1)"}},"PlacedAt":"/Date(1)/","Amount":"1.5"}"#,
        #"{"@odata.id":"Orders(1)"}"#, #"{"uri":"$1"}"#, #"{"note":"n"}"#,
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n"
            + "Content-ID: 1\r\n\r\nPOST Customers HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"Name\":\"n\"}\r\n"
            + "--c--\r\n--b--\r\n",
    ]

    private func mutate(_ text: String, _ generator: inout Generator) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: Array("()'\"/$,%".utf8).shuffled(using: &generator).prefix(2), at: index)
            default: bytes = Array(bytes[..<index])
            }
        }
        return bytes
    }

    /// The first seed once produced a Content-ID that no response could repeat.
    @Test(arguments: Dialect.allCases, [11_909_033_663_538_286_304, UInt64.testSeed()])
    func `damaged requests never stop the service`(_ dialect: Dialect, _ seed: UInt64) throws {
        var generator = Generator(state: seed)
        var shop = try Shop(dialect)
        for _ in 0..<3_000 {
            let method =
                ["GET", "POST", "PUT", "PATCH", "MERGE", "DELETE", "BREW"].randomElement(using: &generator) ?? "GET"
            let url = String(
                decoding: mutate(Self.seeds.randomElement(using: &generator) ?? "", &generator), as: UTF8.self)
            let body = mutate(Self.bodies.randomElement(using: &generator) ?? "", &generator)
            let type = url.hasPrefix("$batch") ? "multipart/mixed; boundary=b" : "application/json"
            let before = shop.sandbox.state
            let response = shop.sandbox.handle(
                WireRequest(
                    method: method, url: "/\(dialect.rawValue)/\(url)",
                    headers: ["Content-Type": type, "If-Match": "*", "Prefer": "odata.maxpagesize=1"], body: body))
            #expect((200..<600).contains(response.status))
            #expect(response.status < 500 || response.status == 501, "seed \(seed): \(method) \(url) \(response.text)")
            if response.status >= 400 {
                #expect(shop.sandbox.state == before, "seed \(seed): \(method) \(url)")
            }
        }
    }

    @Test(arguments: Dialect.allCases)
    func `deeply nested bodies and expressions are refused`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let deep = String(repeating: #"{"Orders":[{"Customer":"#, count: 5_000)
        #expect(shop.send("POST", "Customers", deep).status == 400)
        let closed = deep + "null" + String(repeating: "}]}", count: 5_000)
        #expect(shop.send("POST", "Customers", closed).status == 400)
        let filter = String(repeating: "(", count: 50_000) + "true" + String(repeating: ")", count: 50_000)
        #expect(shop.get("Customers?$filter=\(filter)").status == 400)
        let path = String(repeating: "Customer/Orders(1)/", count: 2_000)
        #expect(shop.get("Orders(1)/\(path)Customer").status < 500)
    }
}
