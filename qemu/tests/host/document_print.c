// SPDX-License-Identifier: GPL-2.0
/* document_print.c - a document with one of everything. */
#include <math.h>

#include "args.h"
#include "document.h"
#include "json.h"

int main(void)
{
	args_init("print");
	document_begin();
	document_open();
	json_object("settings");
	json_text("quoted", "a \"b\" \\ \xff");
	json_object("nothing");
	json_end();
	json_end();
	json_list("results");
	json_object(NULL);
	json_number("n", 1);
	json_list("values");
	json_real(NULL, 1.5);
	json_real(NULL, NAN);
	json_signed(NULL, -3);
	json_end();
	json_bool("last", true);
	json_end();
	json_object(NULL);
	json_end();
	json_close();
	json_open();
	json_close();
	return EXIT_GOOD;
}
