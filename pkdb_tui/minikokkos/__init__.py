"""An embedded runtime with the names of PyKokkos, for machines on which it is not installed."""
