"""When a job is due, and running it once: whichever process is there, however the clocks go."""
