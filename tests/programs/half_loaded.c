/* SPDX-License-Identifier: MIT
 * A library as it stands for a moment in every start: the dynamic loader has mapped the file whole and read-only,
 * and its code, but not yet its data. What lies where its data will be belongs to other parts of the file.
 *
 *   half_loaded LIBRARY
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096ul

static void map_code(const char *image, int fd)
{
	const Elf64_Ehdr *head = (const void *)image;
	const Elf64_Phdr *segments = (const void *)(image + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		unsigned long skip = segment->p_vaddr % PAGE;
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			(void)mmap((char *)image + segment->p_vaddr - skip,
				   segment->p_filesz + skip, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_FIXED, fd, (off_t)(segment->p_offset - skip));
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct stat stat;
	if (fd < 0 || fstat(fd, &stat) < 0)
		return 2;
	const char *image = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		return 2;
	map_code(image, fd);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
