/* hypot and hypotf under the versions that every glibc has.
 *
 * glibc 2.35 has new versions of the two, which do not set errno, and a program that is linked on it asks for 2.35
 * because of them alone. Crates that draw (kurbo, skrifa, resvg) and statistics call them. build.rs links this file
 * with --wrap=hypot and --wrap=hypotf, so that they call these: in one glibc both versions compute alike.
 */
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#endif

__asm__(".symver oldest_hypot, hypot@" OLDEST);
__asm__(".symver oldest_hypotf, hypotf@" OLDEST);

double oldest_hypot(double, double);
float oldest_hypotf(float, float);
double __wrap_hypot(double, double);
float __wrap_hypotf(float, float);

double __wrap_hypot(double x, double y) { return oldest_hypot(x, y); }
float __wrap_hypotf(float x, float y) { return oldest_hypotf(x, y); }
