# Drop decisions one by one: prints every arrival with the uniform number that was there to be used.
# usage: key=value  q RED|REDqib|RIO|RIOC|RIOD|WRED ; wait gentle bytes (RED, RIO) ; qlim ; n arrivals ; seed ; load
# Link 1 Mb/s, 1000-byte packets on average (a slot = 8 ms). The load swings from idle to overload.
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
array set o {q RED wait 0 gentle 0 bytes 0 qlim 40 n 1200 seed 1 sizes 0 share 0.5 load 1}
foreach a $argv { regexp {^([^=]+)=(.*)$} $a -> k v; set o($k) $v }
set isrio [expr {$o(q)=="RIO"}]
set isds [expr {!$isrio && ![string match RED* $o(q)]}]
set qib [expr {$o(q)=="REDqib"}]
set ns [new Simulator]
set a [$ns node]; set b [$ns node]; set c [$ns node]
$ns duplex-link $b $c 1000Mb 1ms DropTail
Queue/RED set thresh_ 5; Queue/RED set maxthresh_ 15; Queue/RED set linterm_ 10; Queue/RED set q_weight_ 0.05
Queue/RED set mean_pktsize_ 1000; Queue/RED set use_mark_p_ 0
Queue/RED set bytes_ $o(bytes); Queue/RED set queue_in_bytes_ $qib
Queue/RED set gentle_ $o(gentle); Queue/RED set wait_ $o(wait)
# a flow id other than 0 is IN; out_linterm_ is far from linterm_, to show which of the two is used
Queue/RED/RIO set in_thresh_ 8; Queue/RED/RIO set in_maxthresh_ 20; Queue/RED/RIO set in_linterm_ 20
Queue/RED/RIO set out_thresh_ 4; Queue/RED/RIO set out_maxthresh_ 12; Queue/RED/RIO set out_linterm_ 50
Queue/RED/RIO set linterm_ 5; Queue/RED/RIO set q_weight_ 0.05; Queue/RED/RIO set mean_pktsize_ 1000
Queue/RED/RIO set gentle_ $o(gentle); Queue/RED/RIO set wait_ $o(wait)
Queue/RED/RIO set use_mark_p_ 0; Queue/RED/RIO set priority_method_ 1
$ns simplex-link $a $b 1Mb 20ms [expr {$isds ? "dsRED/edge" : $isrio ? "RED/RIO" : "RED"}]
$ns simplex-link $b $a 1Mb 20ms DropTail
$ns queue-limit $a $b $o(qlim)
set q [[$ns link $a $b] queue]
if {$isds} {
  $q set numQueues_ 1; $q meanPktSize 1000; $q setNumPrec 2
  if {$o(q)=="RIOD"} {$q setMREDMode RIO-D}
  if {$o(q)=="WRED"} {$q setMREDMode WRED}
  # class 1 = IN goes to c, class 0 = OUT to b
  $q addPolicyEntry -1 [$c id] Null 10; $q addPolicerEntry Null 10
  $q addPolicyEntry -1 [$b id] Null 11; $q addPolicerEntry Null 11
  $q addPHBEntry 10 0 0; $q addPHBEntry 11 0 1
  $q configQ 0 0 8 20 0.05 0.05
  $q configQ 0 1 4 12 0.20 0.03
}
set monitor [$ns monitor-queue $a $b stdout]
foreach class {0 1} {
  set u [new Agent/UDP]; $u set fid_ $class; $u set packetSize_ 100000; $ns attach-agent $a $u
  set sink [new Agent/Null]; $ns attach-agent [expr {$class ? $c : $b}] $sink; $ns connect $u $sink
  set agent($class) $u
}
# Draws of the arrivals; `twin` is seeded like the default generator and so tells what that one will give.
set draws [new RNG]; $draws seed $o(seed)
set twin [new RNG]
# per section of 60 arrivals: mean gap in units of the slot
set loads {1.2 0.9 0.75 0.6 0.9 0.5 3.0 0.8 0.95 0.7}
proc drops {} { global q isds monitor
  if {$isds} { return [list [expr int([$q getStat edrops])] [expr int([$q getStat drops])]] }
  return [list 0 [$monitor set pdrops_]] }
proc arrival {i class size seed} { global ns q isds isrio agent twin monitor qib defaultRNG
  $twin seed $seed; set u [$twin uniform 0.0 1.0]
  $defaultRNG seed $seed
  set waits [$monitor set pkts_]
  foreach {e0 d0} [drops] {}
  $agent($class) send $size
  foreach {e1 d1} [drops] {}
  if {$isds} { set aves "[$q getAverageV 0 0],[$q getAverageV 0 1]" } elseif {$isrio} {
    set aves "[format %.6f [$q set in_ave_]],[format %.6f [$q set ave_]]"
  } else { set aves "[format %.6f [expr [$q set ave_]/($qib?1000.0:1.0)]]," }
  set what [expr {$e1>$e0 ? "early" : $d1>$d0 ? [expr {$isds?"forced":"drop"}] : "pass"}]
  puts "[format %.6f [$ns now]],$class,$size,[format %.9f $u],$waits,$aves,$what" }
puts "time,class,size,u,waiting,average0,average1,decision"
set t 0.01
for {set i 0} {$i<$o(n)} {incr i} {
  set gap [expr 0.008/$o(load)*[lindex $loads [expr ($i/60)%[llength $loads]]]]
  set t [expr $t+[$draws exponential]*$gap]
  if {$i%120==119} { set t [expr $t+0.05+[$draws uniform 0 0.4]] }
  set at [format %.6f $t]
  set class [expr {[$draws uniform 0 1] < $o(share)}]
  set size [expr {$o(sizes) ? 100+100*int([$draws uniform 0 15]) : 1000}]
  set seed [expr 1+int([$draws uniform 0 2000000000])]
  $ns at $at "arrival $i $class $size $seed"
}
$ns at [expr $t+1] "exit 0"
$ns run
