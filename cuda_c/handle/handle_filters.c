/* Filters of traces, of variants that have them: what is given is checked before it goes to the variant. */
#include "err.h"
#include "handle.h"

#define LARGEST 100000000 /* samples: keeps arithmetic on them within int */

static int check_filter(const handle *h, int which) {
    REQUIRE(handle_frame(h)->filtered != NULL, "variant=%s does not filter traces", h->variant->name);
    REQUIRE(which >= 0 && which < HANDLE_FILTERS, "filter %d of traces, must be 0 or 1", which);
    return 0;
}

static int check_band(const trace_band *b) {
    const int *first = b->first, *count = b->count, *at = b->at;
    REQUIRE(b->columns >= 1 && b->columns <= LARGEST && b->rows >= 1 && b->rows <= LARGEST && b->n >= 0,
            "a filter from %d to %d samples with %d numbers a row: must be 1..%d", b->columns, b->rows, b->n, LARGEST);
    REQUIRE(b->groups == (b->rows + 3) / 4, "a filter of %d rows has %d groups, must be %d", b->rows, b->groups,
            (b->rows + 3) / 4);
    for (int g = 0; g < b->groups; g++)
        REQUIRE(at[g] >= 0 && count[g] >= 0 && at[g] <= b->n - count[g] && first[g] >= -LARGEST && first[g] <= LARGEST,
                "group %d of a filter has numbers %d..%ld from column %d on, there are %d", g + 1, at[g],
                (long)at[g] + count[g] - 1, first[g], b->n);
    return 0;
}

int handle_filters(void *own) { return own != NULL && handle_frame(own)->filtered != NULL; }

int handle_filter(void *own, int which, const trace_band *band) {
    handle *h = own;
    TRY(handle_enter(h));
    TRY(check_filter(h, which));
    h->filter_columns[which] = 0;
    for (int b = 0; b < 2; b++)
        TRY(check_band(&band[b]));
    REQUIRE(band[0].rows == band[1].columns, "a filter makes %d samples and goes on with %d", band[0].rows,
            band[1].columns);
    TRY(handle_frame(h)->filter(h, which, band));
    h->filter_columns[which] = band[0].columns;
    return 0;
}

int handle_filtered(void *own, int which, int first, int n, float *out) {
    handle *h = own;
    TRY(handle_enter(h));
    TRY(check_filter(h, which));
    REQUIRE(first >= 0 && n >= 0 && first <= h->receivers.n - n, "traces of receivers %d..%ld, there are %d", first + 1,
            (long)first + n, h->receivers.n);
    REQUIRE(h->filter_columns[which] > 0, "filter %d of traces is used before it is given", which);
    REQUIRE(h->steps == h->filter_columns[which], "the filter takes traces of %d steps, %d were computed",
            h->filter_columns[which], h->steps);
    return n == 0 ? 0 : handle_frame(h)->filtered(h, which, first, n, out);
}
