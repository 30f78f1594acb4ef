import GatewayCore
import SeededRandom
import Testing

/// Paths as different servers resolve them.
struct RequestPathTests {
    private let origin = ServiceRoot("http://backend:8000/sap/SHOP/")!

    /// A step with which a server reads a path.
    private enum Step { case decode, dropParameters, useSlashes }

    /// The orders that occur: Tomcat removes parameters before it decodes, others afterwards or not at all.
    private static let servers: [[Step]] = [
        [], [.decode], [.dropParameters], [.dropParameters, .decode], [.decode, .dropParameters],
        [.decode, .decode], [.decode, .decode, .dropParameters], [.decode, .dropParameters, .decode],
        [.dropParameters, .decode, .dropParameters, .decode], [.useSlashes, .dropParameters],
        [.decode, .useSlashes, .dropParameters], [.decode, .decode, .useSlashes],
    ]

    /// Returns whether a server that resolves dots after these steps leaves the first two segments.
    private func leaves(_ path: String, _ steps: [Step]) -> Bool {
        var path = path
        for step in steps {
            switch step {
            case .decode:
                for (code, text) in [("%2e", "."), ("%2f", "/"), ("%3b", ";"), ("%5c", "\\"), ("%25", "\u{1}")] {
                    path = path.replacing(code, with: text)
                }
                path = path.replacing("\u{1}", with: "%")
            case .dropParameters:
                path = path.split(separator: "/", omittingEmptySubsequences: false)
                    .map { String($0.prefix { $0 != ";" }) }.joined(separator: "/")
            case .useSlashes: path = path.replacing("\\", with: "/")
            }
        }
        var depth = 0
        for (index, segment) in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().enumerated() {
            if segment == ".." { depth -= 1 } else if segment != "." { depth += 1 }
            if index > 1, depth < 2 { return true }
        }
        return false
    }

    @Test func `no server leaves the service with a path that is accepted`() {
        let seed = UInt64.testSeed()
        var state = seed
        let pieces = [
            ".", "..", ";", "/", "%2e", "%2f", "%3b", "%5c", "%252e", "%252f", "%253b", "a", "'", "\\", "..;", ";x=1/",
        ]
        var refused = 0
        for _ in 0..<3_000 {
            var path = "/odata/shop/"
            for _ in 0..<7 {
                state = state &* 6_364_136_223_846_793_005 &+ 1
                path += pieces[Int(state >> 33) % pieces.count]
            }
            guard Self.servers.contains(where: { leaves(path, $0) }) else { continue }
            refused += 1
            #expect(!RequestPath.isContained(path), "\(path), seed \(seed)")
            let relative = String(path.dropFirst("/odata/shop/".count))
            #expect(!RequestPath.isContained(relative, in: origin), "\(relative), seed \(seed)")
        }
        #expect(refused > 150)
    }

    @Test func `a key may contain dots and semicolons in any order`() {
        let seed = UInt64.testSeed()
        var state = seed
        for _ in 0..<1_000 {
            var key = ""
            for _ in 0..<6 {
                state = state &* 6_364_136_223_846_793_005 &+ 1
                key += [".", ";", "..", "a", "%2e", "%3b", "''", "%27"][Int(state >> 33) % 8]
            }
            #expect(RequestPath.isContained("/odata/shop/Files('\(key)')"), "\(key), seed \(seed)")
            #expect(RequestPath.isContained("Files('\(key)')/Texts", in: origin), "\(key), seed \(seed)")
        }
    }

    @Test(arguments: [
        "Orders", "Orders(1)?$filter=../x", "$1/Lines", "$metadata", "", "?$top=1", "Files('..')", "Files('a;..')",
        "Files('x/..')", "Files('a b')", "Files('C:')", "F(p=@p)?@p='/../x'", "/sap/SHOP/Orders(1)", "/sap/SHOP",
        "http://backend:8000/sap/SHOP/Orders", "HTTP://BACKEND:8000/sap/SHOP/Orders", "Orders('http://x/y')", ".!./x",
    ])
    func `the target of a request in a batch is below the root`(_ target: String) {
        #expect(RequestPath.isContained(target, in: origin))
    }

    @Test(arguments: [
        "../x", "..;/x", "..;a=b/x", "..%3b/x", "..%253b/x", "%2e%2e;/x", "a/../../x", "$1/../../x", ".;/x", "..\\x",
        "Orders/..;x", "Files('a/../b')", "Files('a%2f..%2fb')", "/manager/html", "/sap/SHOPS/x", "/sap/SHOP;v=1/x",
        "/sap/SHOP/..;/x", "//evil.example/x", "\\manager", "%2fmanager", "%252fmanager", " /manager", "\t/manager",
        "http://evil.example/x", "http://backend:8000/manager", "https://backend:8000/sap/SHOP/x", "http:/manager",
        "http%3a//evil.example/x", "file:///etc/passwd", "http://backend:8000@evil.example/sap/SHOP/", "..%00/x",
        ".%09./x", "..%20/x", "#/../x", "Orders%00",
    ])
    func `a target outside the root is found`(_ target: String) {
        #expect(!RequestPath.isContained(target, in: origin))
    }

    @Test func `the root of a host contains every path of the host, and no other host`() {
        let root = ServiceRoot("http://backend/")!
        #expect(RequestPath.isContained("/Orders", in: root))
        #expect(!RequestPath.isContained("//evil.example/Orders", in: root))
        #expect(!RequestPath.isContained("/\\evil.example/Orders", in: root))
    }
}
