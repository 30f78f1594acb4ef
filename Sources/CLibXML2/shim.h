#pragma once
#include <libxml/xmlversion.h>
/* If libxml2 was built with ICU, its headers include those of ICU, whose types conflict with those of Foundation's ICU if
   a file imports both. Only a struct that is never accessed depends on it. */
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
