extension FrozenSnapshotTests.Example {
    /// The payloads by name, in hexadecimal digits.
    static let payloads: [String: String] = {
        var found: [String: String] = [:]
        var name = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") { name = String(line.dropFirst(2)) } else { found[name, default: ""] += line }
        }
        return found
    }()

    private static let text = """
        # header
        ac02090400
        # header with all fields
        ac02090404a2020a128090c5c38367020462757379b080c5c3836700
        # service
        11687474703a2f2f3132372e302e302e312f073c65646d782f3e00
        # query
        0151064f7264657273000000
        # query with all fields
        0151064f7264657273040100ac02040108010e16144f72646572733f2464656c7461746f6b656e3d310a1215134f7264
        6572733f24736b6970746f6b656e3d320b140d00
        # entity
        ac02064f726465727300
        # key
        064f72646572730449443d350700
        # row
        07064f726465727307532e4f7264657201024944030a0000
        # row with all fields
        ac02064f726465727307532e4f7264657202024944030a044e6f7465000306032231220a094f72646572732835290ca2
        0200
        # base: absent
        070000
        # base: row
        ac0201ac02064f726465727307532e4f7264657202024944030a044e6f7465000306032231220a094f72646572732835
        290ca2020000
        # link
        01520102010000
        # coverage
        015107ac0200
        # operation: pending
        0c090307000000
        # operation: inFlight
        0c09030700010300
        # operation: inDoubt
        0c0903070002030363757400
        # operation: rejected
        0c0903070003b2060163016d04504f5354064f726465727306027b7d0a027b7d0000
        # operation: deferred
        0c0903070004b2060163016d04504f5354064f726465727306027b7d0a027b7d00ac0200
        # operation with all fields
        0c09020701044e6f74650702c3a400040b0a032230221601541a04666f726d24012801300700000412081400
        # openBatch
        03010101310c000000
        # openBatch with all fields
        03010101310c0403000e05ac020109000006036d2f3300
        # openBatch with shown effects
        03010101310c00000a130207044e616d650007064f726465727301ac0200
        # ancestor
        07064f726465727307532e4f7264657201024944030a00000201520101020153000000
        # streams
        0101010a2d20000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0709696d6167652f6769
        66000e01650000
        # list: events
        010109010c090000
        # list: events with all fields
        0102040009030605020151015200050009030601000000
        # list: openLinks
        02010151064f7264657273094f7264657273283129054f776e65720c437573746f6d65727328372900
        # list: quarantine
        030104090151064f726465727301074e6f206b65792e0000
        # end
        03080706050403020100
        """
}
