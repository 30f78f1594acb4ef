#pragma once
/* The declarations of libxml2 2.9 to 2.13 (libxml2.2.dylib, libxml2.so.2) that Tidelog uses. For the SDKs of phones, which
   contain the library but keep its headers in a folder that packages cannot name. The layouts belong to the ABI, and a
   test compares them with the headers of the system. */

typedef unsigned char xmlChar;

typedef struct {
  void *buf;
  const char *filename;
  const char *directory;
  const xmlChar *base;
  const xmlChar *cur;
  const xmlChar *end;
  int length;
  int line;
  int col;
  /* Has more members. */
} xmlParserInput, *xmlParserInputPtr;

typedef struct {
  void *sax;
  void *userData;
  void *myDoc;
  int wellFormed;
  int replaceEntities;
  const xmlChar *version;
  const xmlChar *encoding;
  int standalone;
  int html;
  xmlParserInputPtr input;
  /* Has more members. */
} xmlParserCtxt, *xmlParserCtxtPtr;

typedef enum { XML_ERR_NONE = 0, XML_ERR_WARNING = 1, XML_ERR_ERROR = 2, XML_ERR_FATAL = 3 } xmlErrorLevel;

typedef struct {
  int domain;
  int code;
  char *message;
  xmlErrorLevel level;
  char *file;
  int line;
  char *str1;
  char *str2;
  char *str3;
  int int1;
  int int2;
  void *ctxt;
  void *node;
} xmlError, *xmlErrorPtr;

#define XML_SAX2_MAGIC 0xDEEDBEAF

typedef struct {
  void (*internalSubset)(void *context, const xmlChar *name, const xmlChar *id, const xmlChar *system);
  void *unused1[16];
  void (*characters)(void *context, const xmlChar *text, int length);
  void *unused2[7];
  void (*cdataBlock)(void *context, const xmlChar *text, int length);
  void *unused3;
  unsigned int initialized;
  void *_private;
  void (*startElementNs)(
      void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaceCount,
      const xmlChar **namespaces, int attributeCount, int defaultedCount, const xmlChar **attributes);
  void (*endElementNs)(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri);
  void (*serror)(void *context, xmlErrorPtr error);
} xmlSAXHandler, *xmlSAXHandlerPtr;

typedef enum { XML_PARSE_NOENT = 1 << 1, XML_PARSE_NONET = 1 << 11 } xmlParserOption;

void xmlInitParser(void);
xmlParserCtxtPtr xmlCreatePushParserCtxt(
    xmlSAXHandlerPtr handler, void *context, const char *bytes, int count, const char *filename);
void xmlFreeParserCtxt(xmlParserCtxtPtr parser);
int xmlCtxtUseOptions(xmlParserCtxtPtr parser, int options);
int xmlParseChunk(xmlParserCtxtPtr parser, const char *bytes, int count, int isLast);
void xmlStopParser(xmlParserCtxtPtr parser);
