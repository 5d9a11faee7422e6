# SPDX-License-Identifier: GPL-2.0
# The latency of one thread's messages to another.

programs += ipclat/ipclat

ipclat-parts := container mechanisms options place report runtime side summary via_zmq

# The real libzmq, from the distribution, linked statically: as shared libraries it is
# twenty files (Kerberos among them) that the initramfs would need, and again the root of
# each container. Its archive refers to a transport (NORM) and a security mechanism
# (GSSAPI) that Debian has no archives of. Nothing here uses either: a call would be
# abort(). -w: the linker says each time that names of hosts could not be looked up
# without the C library's modules.
zmq-absent := gss_accept_sec_context gss_acquire_cred gss_delete_sec_context gss_display_name \
	gss_import_name gss_init_sec_context gss_release_buffer gss_release_cred \
	gss_release_name gss_unwrap gss_wrap NormCreateInstance NormCreateSession \
	NormDestroyInstance NormDestroySession NormGetDescriptor NormGetNextEvent \
	NormGetRandomSessionId NormIsUnicastAddress NormNodeDelete NormObjectGetType \
	NormObjectGetUserData NormObjectSetUserData NormSetCongestionControl \
	NormSetDefaultSyncPolicy NormSetDefaultUnicastNack NormSetLoopback \
	NormSetMulticastInterface NormSetRxPortReuse NormSetTTL NormStartReceiver \
	NormStartSender NormStopInstance NormStopReceiver NormStopSender NormStreamFlush \
	NormStreamOpen NormStreamRead NormStreamSeekMsgStart NormStreamWrite \
	GSS_C_NT_HOSTBASED_SERVICE GSS_C_NT_USER_NAME NORM_INSTANCE_INVALID \
	NORM_NODE_ANY NORM_OBJECT_INVALID NORM_SESSION_INVALID
ipclat-libs := -lzmq -lpgm -lsodium -lstdc++ -Wl,-w \
	$(foreach name,$(zmq-absent),-Wl,--defsym=$(name)=abort)
