package differ

// listingLines are single cases: words with one blank between them, ~ for a blank
// in a word, @n@ for the id of the n-th job of the queue.
const listingLines = `
squeue -S i
squeue -l -S i
squeue -s
squeue -r -S i
squeue -h -S -i
squeue -a -S i
squeue --me -S i
squeue -u daemon -S i
squeue -u root -S i
squeue -u nosuch
squeue -u daemon,root -S i -o %j
squeue -u 1 -o %j -S j
squeue -t R -o %j -S j
squeue -t running -o %j -S j
squeue -t PD -o %j -S j
squeue -t PD,R -o %j -S j
squeue -t all -u daemon -o %j|%T -S j
squeue -t CD,F,CA -u daemon -o %j|%T -S j
squeue -t bogus
squeue -t S
squeue -p short -o %j -S j
squeue -p short,down -o %j -S j
squeue -p nosuch
squeue -A phys -o %j -S j
squeue -A nosuch
squeue -q normal -o %j -S j
squeue -q nosuch
squeue -n held,begin -o %j -S j
squeue -n nosuch
squeue --name=array -o %j
squeue -w n1 -o %j -S j
squeue -w n[1-2] -o %j -S j
squeue -w nosuch
squeue -L foo -o %j
squeue -L nosuch -o %j
squeue -R nosuch
squeue -j @0@ -o %j
squeue -j @0@,@1@ -o %j -S j
squeue -j 999999
squeue -j abc
squeue -j @6@ -o %i|%j
squeue -j @6@_1 -o %j
squeue -j @6@_9 -o %j
squeue -j @10@ -o %j
squeue -S j -o %j
squeue -S -j -o %j
squeue -S +j -o %j
squeue -S P,j -o %j|%P
squeue -S t,j -o %j|%t
squeue -S D,j -o %j|%D
squeue -S u,-j -o %j|%u
squeue -S C,j -o %j|%C
squeue -S ?
squeue -S bogus,j -o %j
squeue --sort=j --format=%j
squeue -o %
squeue -h -S j -o x%jx%%y
squeue -h -S j -o %j%t
squeue -h -S j -o %.j
squeue -h -S j -o %200j
squeue -h -S j -o %.3j|
squeue -h -S j -o \t%j\n
squeue -h -S j -o "%j"
squeue -h -S j -o %j~%5t~%.10u
squeue -S j -O name:10,state:.12,partition:|
squeue -S j -O name,bogus
squeue -S j -O bogus
squeue -S j -O NAME
squeue -S j -O name:-10|
squeue -S j -O name:abc,state
squeue -S j -O name:5abc,state:3
squeue -S j -O ,name
squeue -o %j -O name
squeue --Format=name:20 --sort=j
squeue --bogus
squeue -j
squeue -i abc
squeue extra
squeue --start -S j -o %j
squeue --array -S j -o %j
squeue --only-job-state -j @0@
squeue -M conform -S j -o %j
squeue -M nosuch
squeue --usage
squeue -I -o %j -S j
squeue --noconvert -S j -o %j|%m
squeue --steps
squeue -s @0@
squeue -s 999999
squeue --nohead
squeue --st=R --no -S j -o %j
sinfo
sinfo -l
sinfo -s
sinfo -N
sinfo -N -l
sinfo -e
sinfo -h
sinfo -R
sinfo -Rl
sinfo -a
sinfo -p debug
sinfo -p short,down
sinfo -p nosuch
sinfo -n n1
sinfo -n n[1-2] -N
sinfo -n nosuch
sinfo -n n[1-
sinfo -t idle
sinfo -t mix,idle -N
sinfo -t alloc
sinfo -t bogus
sinfo -t all
sinfo -t idle&mixed
sinfo -r
sinfo -d
sinfo -S N -N -o %N
sinfo -S -N -N -o %N
sinfo -S P -o %P|%D
sinfo -S -P,N -N -o %P|%N
sinfo -S +t -o %t
sinfo -S ? -o %N
sinfo -o %
sinfo -o %P|%5a|%.10l|%6D|%6t|%N
sinfo -h -o %5P|
sinfo -h -o %.20P|
sinfo -h -o x%%y%n
sinfo -o %10n~%z -N
sinfo -O bogus
sinfo -O nodelist,bogus
sinfo -O NodeList:5,StateLong:.12
sinfo -O nodelist:|
sinfo -o %N -O nodelist
sinfo -i abc
sinfo --bogus
sinfo extra
sinfo -M conform
sinfo -M nosuch
sinfo -T
sinfo --usage
sinfo --noconvert -N -o %N|%m
sinfo -b
scancel
scancel 999999
scancel abc
scancel 1_
scancel -t bogus
scancel -t S
scancel -s bogus 999999
scancel --signal=99 999999
scancel -u nosuch
scancel -p nosuch
scancel -n nosuch
scancel -w nosuch
scancel -q nosuch
scancel -A nosuch
scancel -R nosuch
scancel --bogus
scancel -v 999999
scancel -Q 999999
scancel @10@
scancel -v @10@
scancel @3@
scancel @6@_9
scancel @6@_[7-9]
scancel 0
scancel -1
scancel 99999999999
scancel @0@.77
scancel --me -t S
scancel --ctld 999999
scancel -b 999999
scancel -f 999999
scancel --usage
scancel -M nosuch 1
scontrol show job 999999
scontrol show job abc
scontrol -o show job 999999
scontrol show node nosuch
scontrol show node n[1-
scontrol show partition
scontrol show partition debug
scontrol -o show partition
scontrol show partition nosuch
scontrol show partition short
scontrol show hostnames n[1-3,5]
scontrol show hostnames n[3-1]
scontrol show hostnames
scontrol show hostlist n1,n2,n5
scontrol show hostlist n2,n1,n1
scontrol show hostlistsorted n2,n1,n3
scontrol show reservation
scontrol show reservation nosuch
scontrol show license
scontrol show licenses foo
scontrol show license nosuch
scontrol show step 999999
scontrol show topology
scontrol show bogus
scontrol show
scontrol bogus
scontrol --bogus
scontrol hold 999999
scontrol hold
scontrol release 999999
scontrol requeue 999999
scontrol requeue abc
scontrol suspend @0@
scontrol resume @0@
scontrol top 999999
scontrol update job=999999 name=x
scontrol update jobid=abc name=x
scontrol update job=@5@ bogus=1
scontrol update job=@5@ priority=99
scontrol update job=@5@ nice=-5
scontrol update job=@5@ timelimit=abc
scontrol update job=@5@ partition=nosuch
scontrol update job=@0@ numnodes=2
scontrol update job=@3@ comment=x
scontrol update
scontrol update bogus=1
scontrol update nodename=n1 state=drain reason=x
scontrol update nodename=n1 state=bogus
scontrol update partition=debug state=down
scontrol create reservation
scontrol create partition
scontrol delete reservation=nosuch
scontrol delete partition=debug
scontrol delete
scontrol notify 999999 x
scontrol wait_job 999999
scontrol write batch_script 999999
scontrol write bogus
scontrol ping bogus
scontrol listjobs 999999
scontrol completing
scontrol reboot
scontrol reconfigure
scontrol shutdown
scontrol setdebug 3
scontrol token lifespan=abc
sacct -X -n -S now-1hours -u daemon -o jobname,state
sacct -X -S now-1hours -u daemon
sacct -X -P -S now-1hours -u daemon -o jobname,state,exitcode
sacct -X -p -S now-1hours -u daemon -o jobname,state
sacct -X -p --delimiter=;; -S now-1hours -u daemon -o jobname,state
sacct -X -n -S now-1hours -u daemon -b
sacct -X -S now-1hours -u daemon -l -P
sacct -X -n -S now-1hours -s CD -E now -u daemon -o jobname
sacct -X -n -S now-1hours -s F,CD -E now -u daemon -o jobname,state
sacct -X -n -S now-1hours -s bogus
sacct -X -n -S now-1hours -s R -E now -u daemon -o jobname
sacct -S bogus
sacct -E bogus
sacct -S 2035-01-01 -E 2034-01-01
sacct -j 999999 -n
sacct -j abc
sacct -j @0@ -X -n -o jobname
sacct -j @0@,@10@ -X -n -o jobname,state
sacct -j @10@.batch -n -o jobname,jobid
sacct -j @10@ -n -o jobname
sacct -X -n -S now-1hours --name=done -o jobname
sacct -X -n -S now-1hours -A nosuch -o jobname
sacct -X -n -S now-1hours -u nosuch -o jobname
sacct -X -n -S now-1hours -r short -a -o jobname
sacct -X -n -S now-1hours -q nosuch -o jobname
sacct -X -n -S now-1hours -N n1 -u daemon -o jobname
sacct -X -n -S now-1hours -o bogus
sacct -X -n -S now-1hours -o jobname,bogus,state
sacct -X -n -S now-1hours -u daemon -o jobname%4
sacct -X -n -S now-1hours -u daemon -o jobname%-12,state%.5
sacct -X -n -S now-1hours -u daemon -o jobname%0
sacct -X -n -S now-1hours -u daemon -o jobname%abc
sacct -X -n -S now-1hours -u daemon -o JOBNAME,State
sacct -X -n -S now-1hours -u daemon --units=G -o jobname,reqmem
sacct -X -n -S now-1hours -u daemon --units=X -o jobname,reqmem
sacct --bogus
sacct extra
sacct -X -n -i 2 -S now-1hours -u daemon -o jobname
sacct -X -n -i abc -S now-1hours
sacct -X -n -I 4 -S now-1hours -u daemon -o jobname
sacct -X -n -k 20 -S now-1hours -u daemon -o jobname
sacct -X -n -C nosuch -S now-1hours -u daemon -o jobname
sacct -e
sacct --usage
sprio -h -S i -o %u
sprio -o %A
sprio -w
sprio -j 999999
sprio -u nosuch
sprio --bogus
sstat 999999
sstat -j 999999 -n
sstat -e
sattach 999999.0
sattach abc
`
