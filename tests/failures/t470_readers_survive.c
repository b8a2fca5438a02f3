/* Any bytes are read or refused with a sentence: every reader gets its corpus, what fuzzing has found, and random
 * changes of both. `make fuzz` looks for more. */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fio.h"

int fuzz_one(const char *reader, int nreader, const char *folder, int nfolder, const char *bytes, int n);

enum { INPUTS_MAX = 400, BYTES_MAX = 1 << 16, CHANGED = 300, MEGABYTES = 600 };

struct input {
    char *bytes;
    int n;
};

static struct input inputs[INPUTS_MAX];
static int ninputs;
static char folder[PATH_MAX]; /* of the test */

static void load(const char *path) {
    struct input *in = &inputs[ninputs];
    FILE *file = fopen(path, "rb");
    if (!file || ninputs == INPUTS_MAX)
        return;
    in->bytes = malloc(BYTES_MAX);
    in->n = (int)fread(in->bytes, 1, BYTES_MAX, file);
    ninputs++;
    fclose(file);
}

static void load_folder(const char *kind, const char *reader) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tests/fuzz/%s/%s", getenv("ROOT"), kind, reader);
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char name[PATH_MAX + 257];
        snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.')
            load(name);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

static uint64_t state;

static unsigned below(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % n);
}

/* One to four bytes, digits, cuts, repeats. */
static int change(char *b, int n) {
    static const char odd[] = "0123456789-+.eE \n\r\t#=\"'/\xff\x80\x7f\0\1";
    for (int times = 1 + (int)below(4); times > 0 && n > 0; times--) {
        int at = (int)below((unsigned)n), length = 1 + (int)below(16);
        if (length > n - at)
            length = n - at;
        switch (below(5)) {
        case 0:
            b[at] = (char)below(256);
            break;
        case 1:
            b[at] = odd[below(sizeof odd - 1)];
            break;
        case 2:
            memmove(b + at, b + at + length, (size_t)(n - at - length));
            n -= length;
            break;
        case 3:
            if (n + length > BYTES_MAX)
                break;
            memmove(b + at + length, b + at, (size_t)(n - at));
            n += length;
            break;
        default:
            if (below(8) == 0)
                n = at;
        }
    }
    return n;
}

/* In a process of its own: the input at work stands in the file `last`, should it be the end. */
static int give(const char *reader, const char *bytes, int n, int count[2]) {
    FILE *last = fopen("last", "wb");
    if (last) {
        fwrite(bytes, 1, (size_t)n, last);
        fclose(last);
    }
    int outcome = fuzz_one(reader, (int)strlen(reader), folder, (int)strlen(folder), bytes, n);
    if (outcome >= 0)
        count[outcome]++;
    return outcome;
}

static int read_all(const char *reader) {
    int count[2] = {0, 0}, whole;
    static char bytes[BYTES_MAX];
    for (int i = 0; i < ninputs; i++)
        if (give(reader, inputs[i].bytes, inputs[i].n, count) < 0)
            return 1;
    whole = count[1];
    for (int i = 0; i < CHANGED; i++) {
        struct input in = inputs[below((unsigned)ninputs)];
        memcpy(bytes, in.bytes, (size_t)in.n);
        if (give(reader, bytes, change(bytes, in.n), count) < 0)
            return 1;
    }
    FILE *out = fopen("counts", "w");
    if (!out)
        return 1;
    fprintf(out, "%d %d %d\n", whole, count[1] - whole, count[0]);
    fclose(out);
    return 0;
}

static void test_reader(const char *reader) {
    int status, whole = 0, taken = 0, refused = 0;
    struct rusage use;
    ninputs = 0;
    state = 20261121;
    load_folder("corpus", reader);
    load_folder("found", reader);
    fflush(NULL);
    unlink("counts");
    pid_t child = fork();
    if (child == 0)
        _exit(read_all(reader));
    wait4(child, &status, 0, &use);
    FILE *in = fopen("counts", "r");
    int told = in && fscanf(in, "%d %d %d", &whole, &taken, &refused) == 3;
    if (in)
        fclose(in);
    if (!told || status) {
        char kept[PATH_MAX];
        snprintf(kept, sizeof kept, "finding-%s.in", reader);
        rename("last", kept);
        claim(0, "%s: ended with %s %d; the input is in %s (TMP_TEST)", reader,
              WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
              kept);
    } else {
        claim(whole > 0 && refused > 0 && use.ru_maxrss < MEGABYTES * 1024L,
              "%s: %d inputs as they are, %d of them read; %d changed ones, %d read; %ld MB at most, must be below %d",
              reader, ninputs, whole, CHANGED, taken, use.ru_maxrss / 1024, MEGABYTES);
    }
    for (int i = 0; i < ninputs; i++)
        free(inputs[i].bytes);
}

/* In a process of its own, as the struct that the door fills may not be that of C. */
static int gathers_of(const char *bytes, int n) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(fuzz_one("gathers", 7, folder, (int)strlen(folder), bytes, n));
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Behind '+' damage is read on, not told by the checksum of the header: the door puts it where it belongs. */
static void test_checksums(void) {
    static char bytes[BYTES_MAX];
    char path[PATH_MAX];
    struct fio_layout l;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/gathers/whole.in", getenv("ROOT"));
    ninputs = 0;
    load(path);
    if (ninputs == 0 || fio_layout_read(path, "header_crc32", &l) || l.begin < 0 || l.begin >= inputs[0].n) {
        claim(0, "%s has a checksum of its header", path);
        return;
    }
    bytes[0] = '+';
    memcpy(bytes + 1, inputs[0].bytes, (size_t)inputs[0].n);
    bytes[1 + l.begin] ^= 1;
    int plain = gathers_of(bytes + 1, inputs[0].n), anew = gathers_of(bytes, inputs[0].n + 1);
    claim(plain == 0 && anew == 1,
          "gathers whose header has a wrong checksum: %d, must be 0 (refused); behind + %d, must be 1 (read)", plain,
          anew);
    free(inputs[0].bytes);
}

int main(void) {
    char path[PATH_MAX];
    struct dirent **entry;
    int tested = 0;
    claim(getcwd(folder, sizeof folder) != NULL, "the test has a folder");
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus", getenv("ROOT"));
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        if (name[0] != '.' && fuzz_one(name, (int)strlen(name), ".", 1, "", 0) != -2) { /* the tools have readers too */
            test_reader(name);
            tested++;
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    test_checksums();
    claim(tested >= 10, "%d readers were tested, must be 10 or more", tested);
    return check_failed;
}
