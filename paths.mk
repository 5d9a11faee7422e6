# SPDX-License-Identifier: GPL-2.0
# make, the shell and kbuild each cut such a path in their own way: words of it were removed.
strange := ! " \# $$ % & ' ( ) * , : ; < = > ? [ \ ] ^ ` { | } ~
found = $(filter-out 1,$(words x$(1)x))$(strip $(foreach c,$(strange),$(findstring $(c),$(1))))
refuse = $(if $(call found,$(1)),$(error this path has a space or one of $(strange) in it: $(1)))
$(call refuse,$(CURDIR))
$(call refuse,$(value O))
$(if $(filter undefined,$(origin O)),,$(if $(O),,$(error O= names no directory)))
