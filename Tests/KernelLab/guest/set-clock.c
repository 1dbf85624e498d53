/* Sets the wall clock, and whether the kernel takes it as synchronized: set-clock SECONDS-SINCE-1970 [synchronized]
 *
 * Setting the clock makes it unsynchronized (clock_settime(2)); a time service says afterwards that it is (adjtimex(2)).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <time.h>

int main(int count, char **words) {
	struct timespec time = { count > 1 ? atoll(words[1]) : 0, 0 };
	struct timex values = { .modes = ADJ_STATUS | ADJ_MAXERROR | ADJ_ESTERROR, .status = STA_PLL };
	if (clock_settime(CLOCK_REALTIME, &time) != 0 || (count > 2 && adjtimex(&values) < 0)) {
		perror("set-clock");
		return 1;
	}
	return 0;
}
