// Empty: a package with it may declare functions without a body, which the linker finds elsewhere.
