/* SPDX-License-Identifier: MIT
 * PyModuleObject has md_dict right after its PyObject (Include/internal/pycore_moduleobject.h; 3.8:
 * Objects/moduleobject.c).
 */
#include "cpython/module.h"

#include "cpython/object.h"

static int find(struct mem_view *view, const struct layout *layout, raddr interp, const char *name,
		raddr *ret_module)
{
	raddr modules;
	struct dict names;
	if (layout->interp.modules == LAYOUT_NONE)
		return TACHY_EVERSION;
	int rc = object_pointer(view, interp + layout->interp.modules, &modules);
	if (rc < 0)
		return rc;
	if (!modules) /* just being made, or torn down */
		return TACHY_ENOENT;
	rc = dict_open(view, layout, modules, &names);
	return rc < 0 ? rc : dict_find(view, layout, &names, name, ret_module);
}

int module_open(struct mem_view *view, const struct layout *layout, raddr interp, const char *name,
		struct dict *ret_namespace)
{
	raddr module, variables;
	int rc = find(view, layout, interp, name, &module);
	if (rc >= 0)
		rc = object_pointer(view, module + layout->object.size, &variables);
	return rc < 0 ? rc : dict_open(view, layout, variables, ret_namespace);
}
