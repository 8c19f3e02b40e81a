# Scenario M: several one-way TCP flows over one bottleneck, each on access links of its own.
# usage: ns m_flows.tcl key=value ...
#  flows    start:n:delay,... : start in s, data packets, delay in ms added to each of the two access links
#  q        DropTail | RED | SFD (dsRED, coupled) of the link r0->r1; qlim its limit; ecn 0|1 (RED marks)
#  variant, win, bw2 (Mb), d2 (ms), seed, tend; out names the trace of all links
# Every agent has the same phase of its clock, printed as `boot`: the generator is seeded before each reset.
array set o {q DropTail qlim 20 ecn 0 variant Newreno win 64 bw2 2 d2 20 seed 1 tend 100 flows "" out raw
 min 8 max 24 maxp 0.1 wq 0.02 th 15000}
foreach a $argv { regexp {^([^=]+)=(.*)$} $a -> k v; set o($k) $v }
Agent/TCP set syn_ 0; Agent/TCP set delay_growth_ false
Agent/TCP set windowInit_ 2; Agent/TCP set tcpTick_ 0.01
Agent/TCP set rtxcur_init_ 3.0; Agent/TCP set minrto_ 0.2
Agent/TCP set window_ $o(win); Agent/TCP set packetSize_ 1000; Agent/TCP set ecn_ $o(ecn)
Queue/RED set bytes_ false; Queue/RED set queue_in_bytes_ false; Queue/RED set mean_pktsize_ 1000
Queue/RED set thresh_ $o(min); Queue/RED set maxthresh_ $o(max); Queue/RED set linterm_ [expr 1.0/$o(maxp)]
Queue/RED set q_weight_ $o(wq); Queue/RED set gentle_ true; Queue/RED set wait_ true
Queue/RED set use_mark_p_ false; Queue/RED set setbit_ $o(ecn)
Node instproc reset {} { global o defaultRNG; $self instvar agents_
  foreach a $agents_ { $defaultRNG seed $o(seed); $a reset } }
set ns [new Simulator]
set r0 [$ns node]; set r1 [$ns node]
set type [expr {$o(q) == "SFD" ? "dsRED/edge" : $o(q)}]
$ns simplex-link $r0 $r1 $o(bw2)Mb $o(d2)ms $type
$ns simplex-link $r1 $r0 $o(bw2)Mb $o(d2)ms DropTail
$ns queue-limit $r0 $r1 $o(qlim); $ns queue-limit $r1 $r0 10000
if {$o(q) == "SFD"} {
  set q [[$ns link $r0 $r1] queue]
  $q set numQueues_ 1; $q meanPktSize 1000; $q setNumPrec 2
  $q addPolicyEntry -1 -1 SFD 10 $o(th); $q addPolicerEntry SFD 10 11 0
  $q addPHBEntry 10 0 0; $q addPHBEntry 11 0 1
  $q configQ 0 0 10 30 0.02 0.02; $q configQ 0 1 8 24 0.10 0.02
}
set f [open $o(out).tr w]
$ns trace-queue $r0 $r1 $f
set i 0
foreach flow [split $o(flows) ,] {
  foreach {start n delay} [split $flow :] break
  set s [$ns node]; set c [$ns node]
  set d [expr 1.0 + $delay]
  $ns duplex-link $s $r0 100Mb ${d}ms DropTail; $ns duplex-link $r1 $c 100Mb ${d}ms DropTail
  foreach {a b} [list $s $r0 $r0 $s $r1 $c $c $r1] { $ns queue-limit $a $b 10000 }
  $ns trace-queue $s $r0 $f; $ns trace-queue $r0 $s $f; $ns trace-queue $r1 $c $f
  set tcp [new Agent/TCP/$o(variant)]
  set sink [new Agent/TCPSink[expr {$o(variant) == "Sack1" ? "/Sack1" : ""}]]
  $ns attach-agent $s $tcp; $ns attach-agent $c $sink; $ns connect $tcp $sink
  $tcp set fid_ $i
  $ns at $start "$tcp advanceby $n"
  puts "nodes $i [$s id] [$c id]"
  incr i
}
$ns at $o(tend) "$ns flush-trace; close $f; exit 0"
$defaultRNG seed $o(seed)
puts "boot [$defaultRNG uniform 0 0.01]"
$ns run
