"""Laws in doubt: several at once, or a band round an empirical one."""
