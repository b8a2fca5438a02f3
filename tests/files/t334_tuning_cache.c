/* Notes are found again, the newest of a key; what was torn, is too long, or stands in no folder does no harm. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void put(const char *path, const char *bytes) {
    FILE *f = fopen(path, "w");
    if (f != NULL && (fputs(bytes, f) < 0 || fclose(f)))
        claim(0, "%s can be written", path);
}

static int finds(const char *key, const char *text) {
    char found[64] = "";
    return tuning_cache_find("things", key, sizeof found, found) == 0 && strcmp(found, text) == 0;
}

static void there_and_back(void) {
    char text[8];
    claim_fails(tuning_cache_find("things", "a", sizeof text, text), "nothing is noted", "before the first note");
    claim_fine(tuning_cache_add("things", "a", "one") || tuning_cache_add("things", "a b, 3 x 4", "two words"),
               "two notes");
    claim(finds("a", "one") && finds("a b, 3 x 4", "two words"), "two notes are found by their keys");
    claim_fine(tuning_cache_add("things", "a", "three"), "a newer note");
    claim(finds("a", "three"), "the newest note of a key is found");
    claim_fails(tuning_cache_find("things", "a b", sizeof text, text), "nothing is noted for a b", "a part of a key");
    claim_fails(tuning_cache_find("things", "a b, 3 x 4", sizeof text, text), "nothing is noted",
                "a text without room");
    claim_fails(tuning_cache_add("things", "a=", "x"), "has no =", "a key with =");
    claim_fails(tuning_cache_add("things", "a", "x\ny"), "is one line", "a text of two lines");
}

static void torn(void) {
    put("cache/SplFd2dmod-things", "a = old\n\n = x\na\na =\nb = 12\na = ha");
    claim(finds("a", "old") && finds("b", "12"), "the last line has no end: it is not read");
    claim_fine(tuning_cache_add("things", "c", "new"), "a note after it");
    claim(finds("c", "new") && finds("b", "12"), "the next note begins a line of its own");
    FILE *f = fopen("cache/SplFd2dmod-things", "w");
    for (int n = 0; n < 1 << 18; n++)
        fputs("aaaa", f);
    fputs("\nb = 1\n", f);
    fclose(f);
    claim_fails(tuning_cache_add("things", "b", "2"), "no room", "a file of a megabyte");
    char text[8];
    claim(tuning_cache_find("things", "zz", sizeof text, text) != 0, "a line of a megabyte is read to its end");
}

static void no_folder(void) {
    char text[8];
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    claim_fails(tuning_cache_add("things", "a", "one"), "there is no cache folder", "no folder");
    claim_fails(tuning_cache_find("things", "a", sizeof text, text), "there is no cache folder", "no folder");
    char here[4096];
    setenv("HOME", getcwd(here, sizeof here), 1);
    claim_fine(tuning_cache_add("things", "a", "one"), "a home without a cache");
    struct stat s;
    claim(stat(".cache/SplFd2dmod-things", &s) == 0 && (s.st_mode & 0777) == 0600 && finds("a", "one"),
          "it is made, and the note is the user's alone");
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    claim(tuning_cache_add("things", "a", "one") != 0, "a folder that is none: %s", (char *)err_message());
}

int main(void) {
    char here[4000], cache[4096];
    snprintf(cache, sizeof cache, "%s/cache", getcwd(here, sizeof here));
    setenv("XDG_CACHE_HOME", cache, 1);
    there_and_back();
    torn();
    no_folder();
    return check_failed;
}
