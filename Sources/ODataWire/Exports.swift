// JSON is a form of the protocol to every user of this module. Its scanner is in EDM, which reads metadata in JSON with it.
@_exported public import struct EDM.JSONError
@_exported public import struct EDM.JSONObject
@_exported public import struct EDM.JSONScanner
@_exported public import enum EDM.JSONValue
@_exported public import struct EDM.JSONWriter
