# The programs of the receive path, and the parts of each in addition to its own file.

programs += $(addprefix livelock/,livelock-apps livelock-run rxmode)
tests += livelock/tests/livelock-torture

livelock-apps-parts := apps idle_hog
livelock-run-parts := apps idle_hog nic source run_counts run_options run_report
livelock-run-parts += run_require run_setup
livelock-torture-parts := apps idle_hog nic source transmit tests/torture_changes
livelock-torture-parts += tests/torture_netpoll
rxmode-parts := nic
