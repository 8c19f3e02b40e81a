/* Makes a kernel without CAKE look as if it had one, to a program into which this is preloaded
 * (LD_PRELOAD), so that all but CAKE's scheduling can be tested anywhere.
 *
 * A message that installs a CAKE installs a token bucket with its rate instead, and token buckets
 * with the handle 6d48: or one from 8000: on are listed as CAKEs (diffserv4). Each message that
 * installs a queue discipline or a class is appended in hexadecimal to the file that ASKED names.
 * With KILLED set, the program is killed before it replaces one (NLM_F_REPLACE). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LARGEST (1 << 16)

/* Appends an attribute to a message, which must have room for it; the value is zeros if null.
 * Returns where it begins. */
static char *add_attribute(struct nlmsghdr *message, unsigned short kind, const void *value, size_t bytes)
{
	struct rtattr *new = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	memset(new, 0, RTA_SPACE(bytes));
	new->rta_type = kind;
	new->rta_len = RTA_LENGTH(bytes);
	if (value)
		memcpy(RTA_DATA(new), value, bytes);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_SPACE(bytes);
	return (char *)new;
}

/* Sets the length of a nested attribute that reaches to the message's end. */
static void end_nest(struct nlmsghdr *message, char *nest)
{
	((struct rtattr *)nest)->rta_len = (char *)message + message->nlmsg_len - nest;
}

/* Returns the attribute of a kind among `rest` bytes of attributes; null if there is none. */
static const struct rtattr *find_attribute(const struct rtattr *at, int rest, unsigned short kind)
{
	for (; RTA_OK(at, rest); at = RTA_NEXT(at, rest))
		if ((at->rta_type & NLA_TYPE_MASK) == kind)
			return at;
	return NULL;
}

/* Returns the attribute of a kind of a message about a queue discipline; null if there is none. */
static const struct rtattr *find_message_attribute(const struct nlmsghdr *message, unsigned short kind)
{
	const struct tcmsg *about = NLMSG_DATA(message);

	return find_attribute(TCA_RTA(about), TCA_PAYLOAD(message), kind);
}

/* Returns whether a message is about a queue discipline of this kind. */
static int is_about(const struct nlmsghdr *message, const char *kind)
{
	const struct rtattr *at;

	if (message->nlmsg_type != RTM_NEWQDISC)
		return 0;
	at = find_message_attribute(message, TCA_KIND);
	return at && !strcmp(RTA_DATA(at), kind);
}

/* Writes the message to `to` with another kind and empty options. Returns the options, for end_nest(). */
static char *begin_copy(struct nlmsghdr *to, const struct nlmsghdr *from, const char *kind)
{
	memcpy(to, from, NLMSG_LENGTH(sizeof(struct tcmsg)));
	to->nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg));
	add_attribute(to, TCA_KIND, kind, strlen(kind) + 1);
	return add_attribute(to, TCA_OPTIONS, NULL, 0);
}

/* Writes the message that installs a token bucket instead of the CAKE that `from` installs: at
 * its rate, or 1 Gbit/s without one. */
static void to_bucket(struct nlmsghdr *to, const struct nlmsghdr *from)
{
	const struct rtattr *options = find_message_attribute(from, TCA_OPTIONS);
	const struct rtattr *rate = find_attribute(RTA_DATA(options), RTA_PAYLOAD(options), TCA_CAKE_BASE_RATE64);
	struct tc_tbf_qopt bucket = {.rate.linklayer = TC_LINKLAYER_ETHERNET, .limit = 300000};
	char *nest = begin_copy(to, from, "tbf");
	__u32 burst = 16384;

	bucket.rate.rate = rate ? *(__u64 *)RTA_DATA(rate) : 125000000;
	add_attribute(to, TCA_TBF_PARMS, &bucket, sizeof(bucket));
	add_attribute(to, TCA_TBF_BURST, &burst, sizeof(burst));
	end_nest(to, nest);
}

/* Writes a message that describes a CAKE instead of the token bucket that `from` describes. */
static void to_cake(struct nlmsghdr *to, const struct nlmsghdr *from)
{
	const struct rtattr *options = find_message_attribute(from, TCA_OPTIONS);
	const struct rtattr *bucket = find_attribute(RTA_DATA(options), RTA_PAYLOAD(options), TCA_TBF_PARMS);
	__u64 rate = ((struct tc_tbf_qopt *)RTA_DATA(bucket))->rate.rate;
	__u32 mode = CAKE_DIFFSERV_DIFFSERV4;
	char *nest = begin_copy(to, from, "cake");

	add_attribute(to, TCA_CAKE_BASE_RATE64, &rate, sizeof(rate));
	add_attribute(to, TCA_CAKE_DIFFSERV_MODE, &mode, sizeof(mode));
	end_nest(to, nest);
}

/* Appends a message to the file that ASKED names, if it is set. */
static void record_message(const struct nlmsghdr *message)
{
	FILE *file = getenv("ASKED") ? fopen(getenv("ASKED"), "a") : NULL;

	if (!file)
		return;
	for (unsigned at = 0; at < message->nlmsg_len; at++)
		fprintf(file, "%02x", ((const unsigned char *)message)[at]);
	fprintf(file, "\n");
	fclose(file);
}

/* Returns whether a message installs a queue discipline or a class. */
static int installs_something(const struct nlmsghdr *message, size_t bytes)
{
	return bytes >= NLMSG_LENGTH(sizeof(struct tcmsg)) &&
	       (message->nlmsg_type == RTM_NEWQDISC || message->nlmsg_type == RTM_NEWTCLASS);
}

/* Replaces sendto(2), by which mousehole-live sends: records what is installed, turns a CAKE
 * into a token bucket, and with KILLED kills the program before a replacement. Returns as
 * sendto(2) does for the caller's message. */
ssize_t sendto(int socket, const void *what, size_t bytes, int flags, const struct sockaddr *to, socklen_t length)
{
	ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "sendto");
	_Alignas(8) char other[4096];
	struct nlmsghdr *message = (void *)other;

	if (to && to->sa_family == AF_NETLINK && installs_something(what, bytes)) {
		record_message(what);
		if (getenv("KILLED") && ((struct nlmsghdr *)what)->nlmsg_flags & NLM_F_REPLACE)
			raise(SIGKILL);
		if (is_about(what, "cake")) {
			to_bucket(message, what);
			return real(socket, other, message->nlmsg_len, flags, to, length) < 0 ? -1 : (ssize_t)bytes;
		}
	}
	return real(socket, what, bytes, flags, to, length);
}

/* Replaces sendmsg(2), by which tc sends; its messages are only recorded. */
ssize_t sendmsg(int socket, const struct msghdr *what, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
	const struct sockaddr *to = what->msg_name;

	if (to && to->sa_family == AF_NETLINK && what->msg_iovlen &&
	    installs_something(what->msg_iov[0].iov_base, what->msg_iov[0].iov_len))
		record_message(what->msg_iov[0].iov_base);
	return real(socket, what, flags);
}

/* Replaces recv(2): shows token buckets as CAKEs. An answer that would not fit, or is not
 * rtnetlink's, stays as it is. */
ssize_t recv(int socket, void *buffer, size_t size, int flags)
{
	ssize_t (*real)(int, void *, size_t, int) = dlsym(RTLD_NEXT, "recv");
	_Alignas(8) static _Thread_local char got[LARGEST], all[2 * LARGEST];
	struct sockaddr_nl own = {0};
	socklen_t length = sizeof(own);
	ssize_t bytes = real(socket, buffer, size, flags);
	struct nlmsghdr *from = (void *)got, *to = (void *)all;

	if (bytes <= 0 || bytes > LARGEST || (size_t)bytes > size || getsockname(socket, (void *)&own, &length) || own.nl_family != AF_NETLINK)
		return bytes;
	memcpy(got, buffer, bytes);
	for (int rest = bytes; NLMSG_OK(from, rest); from = NLMSG_NEXT(from, rest)) {
		unsigned major = ((struct tcmsg *)NLMSG_DATA(from))->tcm_handle >> 16;

		if (is_about(from, "tbf") && (major == 0x6d48 || (major >= 0x8000 && major < 0xffff)))
			to_cake(to, from);
		else
			memcpy(to, from, from->nlmsg_len);
		to = (void *)((char *)to + NLMSG_ALIGN(to->nlmsg_len));
	}
	if ((char *)to - all > (ssize_t)size)
		return bytes;
	memcpy(buffer, all, (char *)to - all);
	return (char *)to - all;
}
