import EDM
import Testing

@testable import ODataWire

struct EntityURLWriterTests {
    @Test(arguments: [
        ("://h", true), ("a:b://h", true), ("http://h/s", true), ("http://\u{301}", true), ("A(':')//b", false),
        (":?//", false), ("x/y://z", false), ("Customers('http://h')", false), ("//h/s", false), ("", false),
    ])
    func `a URL is absolute if its first slash begins an authority`(_ url: String, _ isAbsolute: Bool) {
        #expect(EntityURLWriter.isAbsolute(url) == isAbsolute)
    }

    @Test func `the path of a service root is found by bytes, even if a combining character follows the slashes`() {
        for root in ["http://h/s/", "http://\u{301}h/s/"] {
            let writer = EntityURLWriter(version: .v4, model: PayloadShop.model(.v4), serviceRoot: root)
            #expect(writer.relative(.url("/s/Customers(1)")) == "Customers(1)", "\(root)")
            #expect(writer.relative(.url(root + "Customers(1)")) == "Customers(1)", "\(root)")
        }
    }
}
