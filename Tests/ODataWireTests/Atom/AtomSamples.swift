import EDM

/// Documents in Atom and XML as V2 services write them.
enum AtomSamples {
    static let namespaces = """
        xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" \
        xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
        """
    static let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/"
    static let category = #"scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme""#

    /// A page with a media entry, expanded entities, comments, CDATA and a tombstone.
    static let page = """
        <?xml version="1.0" encoding="utf-8"?>
        <!-- <entry> in a comment -->
        <feed \(namespaces) xml:base="http://h/s/">
          <id>http://h/s/Customers</id><title type="text">Customers</title><updated>2020-01-01T00:00:00Z</updated>
          <m:count>12</m:count>
          <entry m:etag="W/&quot;1&quot;">
            <id>http://h/s/Customers(1)</id>
            <category term="Shop.Customer" \(category)/>
            <link rel="edit" title="Customer" href="Customers(1)"/>
            <link rel="\(related)Orders" type="application/atom+xml;type=feed" title="Orders" href="Customers(1)/Orders">
              <m:inline><feed>
                <entry><id>http://h/s/Orders(1)</id><category term="Shop.Order" \(category)/>
                  <link rel="edit" href="Orders(1)"/>
                  <link rel="\(related)Customer" type="application/atom+xml;type=entry"><m:inline/></link>
                  <content type="application/xml"><m:properties>
                    <d:OrderID m:type="Edm.Int64">1</d:OrderID><d:Note><![CDATA[a > b & c</entry>]]></d:Note>
                  </m:properties></content></entry>
                <link rel="next" href="Customers(1)/Orders?$skiptoken=1"/>
              </feed></m:inline>
            </link>
            <content type="application/xml"><m:properties>
              <d:CustomerID m:type="Edm.Int32">1</d:CustomerID><d:Name>  M &amp; M  </d:Name><d:Active>true</d:Active>
              <d:Price m:type="Edm.Decimal">12.50</d:Price><d:Since m:type="Edm.DateTime">2020-01-01T10:00:00</d:Since>
              <d:Long m:null="true"/><d:Data m:type="Edm.Binary">AQI=</d:Data><d:At m:type="Edm.Time">PT1H</d:At>
              <d:Address m:type="Shop.Address"><d:Street/><d:Zip m:type="Edm.Int32"> 5 </d:Zip></d:Address>
              <d:Unknown>x</d:Unknown>
            </m:properties></content>
          </entry>
          <at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="http://h/s/Customers(2)"
            when="2020-01-01T00:00:00Z"/>
          <entry>
            <id>http://h/s/Customers(3)</id><category term="Shop.Customer" \(category)/>
            <link rel="edit" href="Customers(3)"/><link rel="edit-media" href="Customers(3)/$value" m:etag="e"/>
            <content type="image/png" src="Customers(3)/$value"/>
            <m:properties><d:CustomerID>3</d:CustomerID></m:properties>
          </entry>
          <link rel="next" href="Customers?$skiptoken=3"/><link rel="delta" href="http://h/s/Customers?!deltatoken='7'"/>
        </feed>
        """

    /// The same page in JSON. A tombstone of Atom states no set, so the context here has none either.
    static let pageInJSON = #"""
        {"d":{"__count":"12","results":[{"__metadata":{"id":"http://h/s/Customers(1)","uri":"http://h/s/Customers(1)",
        "type":"Shop.Customer","etag":"W/\"1\""},"CustomerID":1,"Name":"  M & M  ","Active":true,"Price":"12.50",
        "Since":"/Date(1577872800000)/","Long":null,"Data":"AQI=","At":"PT1H","Address":{"Street":"","Zip":5},
        "Unknown":"x","Orders":{"results":[{"__metadata":{"id":"http://h/s/Orders(1)","uri":"http://h/s/Orders(1)",
        "type":"Shop.Order"},"OrderID":"1","Note":"a > b & c</entry>","Customer":null}],
        "__next":"http://h/s/Customers(1)/Orders?$skiptoken=1"}},
        {"@odata.context":"$metadata#$deletedEntity","id":"http://h/s/Customers(2)"},
        {"__metadata":{"id":"http://h/s/Customers(3)","uri":"http://h/s/Customers(3)","type":"Shop.Customer",
        "media_src":"http://h/s/Customers(3)/$value","edit_media":"http://h/s/Customers(3)/$value","media_etag":"e",
        "content_type":"image/png"},"CustomerID":3,"Orders":{"__deferred":{"uri":"http://h/s/Customers(3)/Orders"}}}],
        "__next":"http://h/s/Customers?$skiptoken=3","__delta":"http://h/s/Customers?!deltatoken='7'"}}
        """#

    /// Returns an entry of the customers.
    static func entry(_ properties: String, links: String = "") -> String {
        """
        <entry \(namespaces)><id>http://h/s/Customers(1)</id><category term="Shop.Customer" \(category)/>\(links)\
        <content type="application/xml"><m:properties>\(properties)</m:properties></content></entry>
        """
    }
}
