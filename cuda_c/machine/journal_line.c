/* Lines of a journal, as they are written in nearly all cases; see interfaces/journal_c.f90. */
#include <string.h>

#include "iface.h"

enum { DIGITS = 9 /* of a number that is an int for sure */, HEX = 8 };

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

/* The number that so many hexadecimal digits are, -1 where one is none. */
static long hex(const char *text) {
    long value = 0;
    for (int i = 0; i < HEX; i++) {
        const int digit = hex_digit(text[i]);
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

long journal_line_length(long n, const char *text, int *whole) {
    const char *end = memchr(text, '\n', (size_t)n);
    *whole = 0;
    if (!end)
        return -1;
    const long length = end - text;
    if (length > HEX + 1 && text[HEX] == ' ')
        *whole = hex(text) == crc32_bytes(0, length - HEX - 1, text + HEX + 1);
    return length;
}

/* The next word of a line, from character `at` on; `at` moves behind the blank that follows it. */
static const char *next_word(long n, const char *line, long *at, int *length) {
    const char *word = line + *at, *blank = memchr(word, ' ', (size_t)(n - *at));
    *length = (int)((blank ? blank : line + n) - word);
    *at += *length + (blank != NULL);
    return word;
}

static int number(const char *word, int length, int *value) {
    *value = 0;
    for (int i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return 0;
        *value = i < DIGITS ? 10 * *value + word[i] - '0' : 0;
    }
    return length > 0 && length <= DIGITS;
}

/* A number of at most so many digits, times or over a power of ten that is exact, rounds once, as it should: Clinger,
 * How to read floating point numbers accurately, PLDI 1990. Any other is left to those who read slowly. */
enum { EXACT_DIGITS = 15, EXACT_POWER = 22 };
static const double power_of_ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits, perhaps a point among them, perhaps an exponent behind them. */
static int seconds(const char *word, int length, double *value) {
    long digits = 0;
    int at = 0, n = 0, point = -1, power = 0;
    for (; at < length && word[at] != 'e'; at++) {
        if (word[at] == '.' && point < 0 && n > 0)
            point = n;
        else if (word[at] >= '0' && word[at] <= '9' && n < EXACT_DIGITS)
            digits = 10 * digits + word[at] - '0', n++;
        else
            return 0;
    }
    if (at < length) {
        const int down = at + 1 < length && word[at + 1] == '-';
        if (!number(word + at + 1 + down, length - at - 1 - down, &power))
            return 0;
        power = down ? -power : power;
    }
    power -= point < 0 ? 0 : n - point;
    if (n == 0 || power < -EXACT_POWER || power > EXACT_POWER)
        return 0;
    *value = power < 0 ? (double)digits / power_of_ten[-power] : (double)digits * power_of_ten[power];
    return 1;
}

/* Two digits, no more than `most`; -1 if they are none. */
static int pair(const char *text, int least, int most) {
    const int high = text[0] - '0', low = text[1] - '0', value = 10 * high + low;
    return high < 0 || high > 9 || low < 0 || low > 9 || value < least || value > most ? -1 : value;
}

/* YYYY-MM-DDTHH:MM:SSZ in seconds since 1970; days of the Gregorian calendar, counted from the first of March, after
 * which a year's odd length comes last. */
static int time_of(const char *t, int length, double *value) {
    if (length != 20 || t[4] != '-' || t[7] != '-' || t[10] != 'T' || t[13] != ':' || t[16] != ':' || t[19] != 'Z')
        return 0;
    const int century = pair(t, 19, 99), of_it = pair(t + 2, 0, 99), month = pair(t + 5, 1, 12),
              day = pair(t + 8, 1, 28), late = pair(t + 8, 29, 31), hour = pair(t + 11, 0, 23),
              minute = pair(t + 14, 0, 59), second = pair(t + 17, 0, 59);
    if (century < 0 || of_it < 0 || month < 0 || (day < 0 && late < 0) || hour < 0 || minute < 0 || second < 0)
        return 0;
    const long year = 100L * century + of_it - (month < 3), from_march = (month + 9) % 12;
    const long days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * from_march + 2) / 5 +
                      (day < 0 ? late : day) - 1 - 719468;
    *value = (double)(((days * 24 + hour) * 60 + minute) * 60 + second);
    return *value >= 0;
}

int journal_line_read(long n, const char *line, journal_line *l) {
    static const char sum[] = "checksum=";
    long at = 0;
    int length;
    next_word(n, line, &at, &l->event_length);
    const char *word = next_word(n, line, &at, &length);
    if (!number(word, length, &l->record))
        return 0;
    word = next_word(n, line, &at, &length);
    if (!number(word, length, &l->attempt))
        return 0;
    word = next_word(n, line, &at, &length);
    if (!number(word, length, &l->worker))
        return 0;
    word = next_word(n, line, &at, &l->host_length);
    l->host_at = (int)(word - line);
    word = next_word(n, line, &at, &length);
    if (!seconds(word, length, &l->seconds))
        return 0;
    word = next_word(n, line, &at, &length);
    if (!time_of(word, length, &l->time))
        return 0;
    l->note_at = (int)at;
    l->checksum = -1;
    if (n - at >= (long)sizeof sum - 1 + HEX && !memcmp(line + at, sum, sizeof sum - 1))
        l->checksum = hex(line + at + sizeof sum - 1);
    return 1;
}
