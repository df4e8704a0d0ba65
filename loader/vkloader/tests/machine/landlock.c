/* landlock PATH COMMAND...: runs a command that may not open the files at a path or below, whatever their permissions. If the path ends with a
   slash, the command may open the files, but not list the folder, nor those above it. Ends with 99 if the kernel has no Landlock. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rules;
static struct landlock_ruleset_attr all = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};

static void allow(const char *path) {
    struct landlock_path_beneath_attr rule = {.allowed_access = all.handled_access_fs, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd >= 0) {
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        close(rule.parent_fd);
    }
}

/* Allows everything in a folder, except for the path `refused`. */
static void allow_others(const char *folder, const char *refused) {
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *entries = opendir(*folder ? folder : "/");
    while (entries && (entry = readdir(entries))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!strncmp(path, refused, length) && refused[length] == '/')
            allow_others(path, refused);
        else if (strcmp(path, refused))
            allow(path);
    }
    if (entries)
        closedir(entries);
}

int main(int count, char **words) {
    size_t length = count < 3 ? 0 : strlen(words[1]);
    if (!length)
        return 97;
    if (words[1][length - 1] == '/') {
        words[1][length - 1] = 0;
        all.handled_access_fs = LANDLOCK_ACCESS_FS_READ_DIR;
    }
    rules = syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return 99;
    allow_others("", words[1]);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_landlock_restrict_self, rules, 0))
        return 99;
    execvp(words[2], words + 2);
    return 98;
}
