import GatewayCore
import ODataWire
import Testing

struct TraceContextTests {
    private let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `the identification of a client is kept`() {
        let context = TraceContext(["traceparent": valid])
        #expect(context?.value == valid && context?.trace == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(TraceContext(["TraceParent": "01" + valid.dropFirst(2) + "-later"]) != nil, "a later version")
    }

    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    ])
    func `a malformed identification is none`(_ value: String) {
        #expect(TraceContext(["traceparent": value]) == nil)
    }

    @Test func `two identifications are none`() {
        var headers: HTTPHeaders = ["traceparent": valid]
        headers.add(name: "traceparent", value: valid)
        #expect(TraceContext(headers) == nil)
    }

    @Test(arguments: [UInt64.min, 1, .max])
    func `a new identification has the form of the standard`(_ number: UInt64) {
        let made = TraceContext(number, number, span: number)
        #expect(TraceContext(["traceparent": made.value]) == made)
    }
}
