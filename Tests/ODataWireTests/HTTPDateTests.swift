import ODataWire
import Testing

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "sun, 6 nov 1994 08:49:37 gmt",
    ])
    func `all three date formats of the standard are parsed`(_ text: String) {
        #expect(HTTPDate.milliseconds(text) == 784_111_777_000)
    }

    @Test func `a formatted date parses to the same second`() {
        #expect(HTTPDate.text(millisecondsSince1970: 784_111_777_999) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(millisecondsSince1970: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(millisecondsSince1970: -1000) == "Wed, 31 Dec 1969 23:59:59 GMT")
        for second in stride(from: Int64(-3_000_000_000), to: 9_000_000_000, by: 8_640_307) {
            let text = HTTPDate.text(millisecondsSince1970: second * 1000)
            #expect(text.flatMap(HTTPDate.milliseconds) == second * 1000)
        }
    }

    @Test(arguments: [
        "", "120", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 199 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z",
    ])
    func `an invalid date is rejected`(_ text: String) { #expect(HTTPDate.milliseconds(text) == nil) }

    @Test func `a year with more than four digits is not formatted`() {
        #expect(HTTPDate.text(millisecondsSince1970: 400_000_000_000_000) == nil)
    }
}
