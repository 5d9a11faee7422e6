# The lottery tool, its measurements and tests, and the parts of each in addition to its file.

programs += $(addprefix lottery/,lottery lottery-bench)
tests += $(addprefix lottery/tests/,lottery-smp lottery-torture)

lottery-parts := lottery_currency lottery_lend lottery_top
lottery-parts += $(addprefix top_,json look screen show trace)
lottery-bench-parts := $(addprefix bench_,cost fair paper share) window
lottery-smp-parts := $(addprefix tests/smp_,common displaced pulse shares turns)
lottery-torture-parts := $(addprefix tests/torture_,boss group plug worker)
