/* The GPUs of a build without CUDA: none. The same verbs with CUDA are in device.cu; their meaning is in
 * interfaces/device_c.f90. */
#include <stdio.h>

#include "err.h"
#include "iface.h"

static const char why[] = "this program was built without CUDA (no nvcc, or GPU=0 or DEBUG=1): install the CUDA "
                          "toolkit where it is missing, and run make without GPU=0 and DEBUG=1";

int device_count(void) { return 0; }

int device_why(int length, char *text) {
    snprintf(text, length > 0 ? (size_t)length : 0, "%s", why);
    return 0;
}

int device_use(int n) { FAIL("GPU %d asked for, but %s", n, why); }

int device_name(int n, int length, char *text) {
    (void)length, (void)text;
    return device_use(n);
}

int device_id(int n, int length, char *text) {
    (void)length, (void)text;
    return device_use(n);
}

int device_memory(int n, long *available, long *total) {
    *available = *total = 0;
    return device_use(n);
}

int device_room(long bytes, void *room) {
    (void)bytes, (void)room;
    return device_use(0);
}

void device_room_free(void *room) { (void)room; }
