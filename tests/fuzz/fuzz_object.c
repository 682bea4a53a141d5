/* SPDX-License-Identifier: MIT
 * Any bytes as a target's memory, and objects looked for at any place of it: text is valid UTF-8 without a
 * NUL, bytes lie in what was read, and nothing takes long.
 *
 * Input: version, where the object begins (2 bytes), the memory from BASE on. Eight-byte words whose top
 * half is 0xfeed0000 point into it (their low half is the offset), so that pointers are easily found.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cpython/object.h"
#include "os/mem_image.h"

#define BASE       0x7f0000000000u
#define PAGE       4096u
#define MEMORY_MAX (64u * 1024) /* longer inputs are cut */
#define POINTER    0xfeed0000u
#define N_VERSIONS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fix_pointers(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, sizeof word);
		if (word >> 32 != POINTER)
			continue;
		word = BASE + (uint32_t)word;
		memcpy(bytes + at, &word, sizeof word);
	}
}

static void check_str(struct mem_view *view, const struct layout *layout, raddr addr)
{
	struct text text = {.chars = {NULL, 0, 0}};
	int rc = object_str(view, layout, addr, &text);
	if (rc >= 0 && text.chars.n &&
	    (!utf8_valid(text.chars.at, text.chars.n) || memchr(text.chars.at, 0, text.chars.n)))
		abort();
	vec_done(&text.chars);
}

static void check_bytes(struct mem_view *view, const struct layout *layout, raddr addr)
{
	struct span span;
	volatile uint8_t sum = 0;
	if (object_bytes(view, layout, addr, &span) < 0)
		return;
	for (size_t i = 0; i < span.size; i++) /* for the sanitizer to see */
		sum = (uint8_t)(sum + span.data[i]);
}

static void look(struct mem *mem, const struct layout *layout, raddr addr)
{
	struct mem_view view;
	raddr value;
	mem_view_init(&view, mem);
	for (int round = 0; round < 2 && mem_view_begin(&view) >= 0; round++) {
		check_str(&view, layout, addr);
		check_bytes(&view, layout, addr);
		(void)object_is(&view, layout, addr, "code");
		(void)object_pointer(&view, addr, &value);
	}
	mem_view_done(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mem *mem;
	if (size < 4)
		return 0;
	const struct layout *layout = layout_find(3, 8 + data[0] % N_VERSIONS, false, false);
	uint32_t at = load_u16((struct span){data, size}, 1);
	size_t n = size - 3 < MEMORY_MAX ? size - 3 : MEMORY_MAX;
	size_t room = (n + PAGE - 1) / PAGE * PAGE;
	uint8_t *bytes = calloc(1, room);
	if (!layout || !bytes || mem_image_create(&mem) < 0)
		abort();
	memcpy(bytes, data + 3, n);
	fix_pointers(bytes, n);
	if (mem_image_add(mem, BASE, bytes, room) < 0)
		abort();
	look(mem, layout, BASE + at);
	look(mem, layout, BASE + (at & ~7u));
	mem_close(mem);
	free(bytes);
	return 0;
}
