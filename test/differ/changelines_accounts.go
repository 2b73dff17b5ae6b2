package differ

const accountLines = `
r sacctmgr -i add account new
r sacctmgr -i add account new parent=t1 description=abc organization=org fairshare=5
r sacctmgr -i add account new parent=nosuch
r sacctmgr -i add account t1
r sacctmgr -i add account t1,new
r sacctmgr -i add account
r sacctmgr -i add account new bogus=1
r sacctmgr -i add account name=new cluster=conform
r sacctmgr -i add account name=new cluster=nosuch
r sacctmgr -i add user games account=t2
r sacctmgr -i add user games account=t1
r sacctmgr -i add user games account=nosuch
r sacctmgr -i add user games account=t1,t2 fairshare=7
r sacctmgr -i add user games
r sacctmgr -i add user
r sacctmgr -i add user account=t1
r sacctmgr -i add user games account=t2 bogus=1
r sacctmgr -i add user games account=t2 defaultaccount=t2
r sacctmgr -i add user games account=t2 qos=q1 defaultqos=q1
r sacctmgr -i add user games account=t2 qos=nosuch
r sacctmgr -i add user games account=t2 defaultqos=nosuch
r sacctmgr -i add user games account=t2 adminlevel=operator
r sacctmgr -i add user games account=t2 adminlevel=bogus
r sacctmgr -i add user games account=t2 maxjobs=3 maxsubmit=4 maxwall=1:00:00
r sacctmgr -i add user games account=t2 partition=debug
r sacctmgr -i add user games account=t2 partition=nosuch
r sacctmgr -i modify user games set maxjobs=3
r sacctmgr -i modify user games set maxjobs=-1
r sacctmgr -i modify user games set maxjobs=x
r sacctmgr -i modify user games set maxsubmitjobs=3
r sacctmgr -i modify user games set maxsubmit=3 maxjobs=2
r sacctmgr -i modify user games set maxtres=cpu=4
r sacctmgr -i modify user games set maxtres=cpu=4,gres/gpu=2
r sacctmgr -i modify user games set maxtres=bogus=4
r sacctmgr -i modify user games set maxtres=cpu=x
r sacctmgr -i modify user games set maxtres=mem=4G
r sacctmgr -i modify user games set maxtres=cpu=-1
r sacctmgr -i modify user games set maxtresperjob=cpu=4
r sacctmgr -i modify user games set maxtrespernode=cpu=4
r sacctmgr -i modify user games set maxtresmins=cpu=4
r sacctmgr -i modify user games set maxcpus=4
r sacctmgr -i modify user games set maxnodes=4
r sacctmgr -i modify user games set maxcpumins=4
r sacctmgr -i modify user games set maxwall=60
r sacctmgr -i modify user games set maxwall=1-0
r sacctmgr -i modify user games set maxwall=x
r sacctmgr -i modify user games set maxwalldurationperjob=60
r sacctmgr -i modify user games set fairshare=5
r sacctmgr -i modify user games set fairshare=parent
r sacctmgr -i modify user games set fairshare=x
r sacctmgr -i modify user games set share=5
r sacctmgr -i modify user games set priority=5
r sacctmgr -i modify user games set qos=q1
r sacctmgr -i modify user games set qos=normal,q1
r sacctmgr -i modify user games set qos+=q1
r sacctmgr -i modify user games set qos-=normal
r sacctmgr -i modify user games set qos=nosuch
r sacctmgr -i modify user games set qos=
r sacctmgr -i modify user games set defaultqos=normal
r sacctmgr -i modify user games set defaultqos=q1
r sacctmgr -i modify user games set defaultaccount=t1
r sacctmgr -i modify user games set defaultaccount=t2
r sacctmgr -i modify user games set adminlevel=admin
r sacctmgr -i modify user games set adminlevel=x
r sacctmgr -i modify user games set defaultwckey=x
r sacctmgr -i modify user games set bogus=1
r sacctmgr -i modify user games set
r sacctmgr -i modify user games
r sacctmgr -i modify user where name=games account=t1 set maxjobs=3
r sacctmgr -i modify user where name=games account=t2 set maxjobs=3
r sacctmgr -i modify user where user=games cluster=conform set maxjobs=3
r sacctmgr -i modify user where user=nosuch set maxjobs=3
r sacctmgr -i modify user where bogus=1 set maxjobs=3
r sacctmgr -i modify user games set maxjobs=3 where account=t1
r sacctmgr -i modify account t1 set fairshare=5
r sacctmgr -i modify account t1 set grptres=cpu=10
r sacctmgr -i modify account t1 set grptres=cpu=10,mem=5000
r sacctmgr -i modify account t1 set grpjobs=5 grpsubmit=6
r sacctmgr -i modify account t1 set grpsubmitjobs=6
r sacctmgr -i modify account t1 set grpwall=60
r sacctmgr -i modify account t1 set grptresmins=cpu=60
r sacctmgr -i modify account t1 set grptresrunmins=cpu=60
r sacctmgr -i modify account t1 set grpcpus=6
r sacctmgr -i modify account t1 set grpnodes=6
r sacctmgr -i modify account t1 set maxjobs=6
r sacctmgr -i modify account t1 set qos=q1
r sacctmgr -i modify account t1 set description=abc organization=def
r sacctmgr -i modify account t2 set parent=root
r sacctmgr -i modify account t1 set parent=t2
r sacctmgr -i modify account t1 set parent=t1
r sacctmgr -i modify account t1 set parent=nosuch
r sacctmgr -i modify account nosuch set fairshare=5
r sacctmgr -i modify account where name=t1,t2 set fairshare=5
r sacctmgr -i modify account t1 set name=t3
r sacctmgr -i modify account t1 set bogus=1
r sacctmgr -i delete user games
r sacctmgr -i delete user games account=t1
r sacctmgr -i delete user games account=t2
r sacctmgr -i delete user nosuch
r sacctmgr -i delete user
r sacctmgr -i remove user where user=games
r sacctmgr -i delete account t1
r sacctmgr -i delete account t2
r sacctmgr -i delete account nosuch
r sacctmgr -i delete account
r sacctmgr -i delete account where parent=t1
r sacctmgr -i delete qos q1
r sacctmgr -i delete qos nosuch
r sacctmgr -i add qos q1
r sacctmgr -i add qos
r sacctmgr -i add coordinator account=t1 names=games
r sacctmgr -i add coordinator account=nosuch names=games
r sacctmgr -i add coordinator names=games
r sacctmgr -i delete coordinator account=t1 names=games
r sacctmgr -i bogus
r sacctmgr -i add bogus
r sacctmgr -i modify bogus set x=1
r sacctmgr -i delete bogus
r sacctmgr -i show bogus
r sacctmgr
sacctmgr -i add account new
sacctmgr -i modify user games set maxjobs=3
sacctmgr -i modify user daemon set maxjobs=3
sacctmgr -i modify user daemon set defaultaccount=phys
sacctmgr -i delete user games
sacctmgr -i add qos new
r sacctmgr -n -P show user games
r sacctmgr -P show user games withassoc
r sacctmgr -n -P show user games withassoc format=user,account,maxjobs
r sacctmgr -n -P show account t1,t2
r sacctmgr -P show account t1 withassoc
r sacctmgr -n -P show account t1 withcoord
r sacctmgr -P show assoc where user=games
r sacctmgr -n -P show assoc user=games format=account,user,qos
r sacctmgr -n -P list associations where account=t1 format=account%20,user
r sacctmgr -n -P show assoc where account=nosuch
r sacctmgr -n -P show assoc tree where account=t1,t2 format=account,user
r sacctmgr -P show qos q1
r sacctmgr -n -P show qos where name=q1 format=name,priority
r sacctmgr show user games
r sacctmgr show account t1
r sacctmgr show qos q1 format=name,priority,flags%20
r sacctmgr show qos format=bogus
r sacctmgr -p show user games format=user,defaultaccount,adminlevel
r sacctmgr show user games format=user%-10,def%5
r sacctmgr -n show coordinator
r sacctmgr -n -P show cluster format=cluster,classification
r sacctmgr -n -P show tres
r sacctmgr -n -P show wckey
r sacctmgr -n -P show problem
r sacctmgr -n -P show runawayjobs
r sacctmgr -n -P show config
r sacctmgr -n -P show resource
r sacctmgr -n -P show federation
r sacctmgr -n -P show transactions where bogus=1
r sacctmgr -n -P show stats bogus
r sacctmgr show
`

const qosLines = `
r sacctmgr -i modify qos q1 set priority=5
r sacctmgr -i modify qos q1 set priority=-1
r sacctmgr -i modify qos q1 set priority=x
r sacctmgr -i modify qos q1 set gracetime=60
r sacctmgr -i modify qos q1 set gracetime=1:00
r sacctmgr -i modify qos q1 set preempt=normal
r sacctmgr -i modify qos q1 set preempt=nosuch
r sacctmgr -i modify qos q1 set preempt=q1
r sacctmgr -i modify qos q1 set preemptmode=requeue
r sacctmgr -i modify qos q1 set preemptmode=cancel
r sacctmgr -i modify qos q1 set preemptmode=cluster
r sacctmgr -i modify qos q1 set preemptmode=bogus
r sacctmgr -i modify qos q1 set flags=DenyOnLimit
r sacctmgr -i modify qos q1 set flags=denyonlimit,overpartqos
r sacctmgr -i modify qos q1 set flags+=NoDecay
r sacctmgr -i modify qos q1 set flags=bogus
r sacctmgr -i modify qos q1 set flags=-1
r sacctmgr -i modify qos q1 set flags=UsageFactorSafe
r sacctmgr -i modify qos q1 set flags=PartitionMinNodes,PartitionMaxNodes,PartitionTimeLimit
r sacctmgr -i modify qos q1 set flags=NoReserve,RequiresReservation
r sacctmgr -i modify qos q1 set usagefactor=2
r sacctmgr -i modify qos q1 set usagefactor=0.5
r sacctmgr -i modify qos q1 set usagefactor=x
r sacctmgr -i modify qos q1 set usagethreshold=0.1
r sacctmgr -i modify qos q1 set grptres=cpu=4,gres/gpu=2
r sacctmgr -i modify qos q1 set grptres=cpu=-1
r sacctmgr -i modify qos q1 set grptres=node=4
r sacctmgr -i modify qos q1 set grptresmins=cpu=100
r sacctmgr -i modify qos q1 set grptresrunmins=cpu=100
r sacctmgr -i modify qos q1 set grpjobs=4
r sacctmgr -i modify qos q1 set grpsubmitjobs=4
r sacctmgr -i modify qos q1 set grpsubmit=4
r sacctmgr -i modify qos q1 set grpwall=100
r sacctmgr -i modify qos q1 set grpwall=1-0
r sacctmgr -i modify qos q1 set maxtres=cpu=4
r sacctmgr -i modify qos q1 set maxtresperjob=cpu=4
r sacctmgr -i modify qos q1 set maxtrespernode=cpu=4
r sacctmgr -i modify qos q1 set maxtresperuser=cpu=4
r sacctmgr -i modify qos q1 set maxtrespu=mem=4G
r sacctmgr -i modify qos q1 set maxtrespa=cpu=4
r sacctmgr -i modify qos q1 set maxtresperaccount=cpu=4
r sacctmgr -i modify qos q1 set maxtresmins=cpu=4
r sacctmgr -i modify qos q1 set maxtresminsperjob=cpu=4
r sacctmgr -i modify qos q1 set maxwall=100
r sacctmgr -i modify qos q1 set maxwalldurationperjob=1-0
r sacctmgr -i modify qos q1 set maxjobsperuser=4
r sacctmgr -i modify qos q1 set maxjobspu=4
r sacctmgr -i modify qos q1 set maxjobspa=4
r sacctmgr -i modify qos q1 set maxjobs=4
r sacctmgr -i modify qos q1 set maxsubmitjobsperuser=4
r sacctmgr -i modify qos q1 set maxsubmitpu=4
r sacctmgr -i modify qos q1 set maxsubmitpa=4
r sacctmgr -i modify qos q1 set maxsubmitjobs=4
r sacctmgr -i modify qos q1 set maxcpusperuser=4
r sacctmgr -i modify qos q1 set maxnodesperuser=4
r sacctmgr -i modify qos q1 set maxcpus=4
r sacctmgr -i modify qos q1 set maxnodes=4
r sacctmgr -i modify qos q1 set mintres=cpu=2
r sacctmgr -i modify qos q1 set mintresperjob=cpu=2
r sacctmgr -i modify qos q1 set mincpus=2
r sacctmgr -i modify qos q1 set limitfactor=2
r sacctmgr -i modify qos q1 set minprio=2
r sacctmgr -i modify qos q1 set description=abc
r sacctmgr -i modify qos q1 set name=q2
r sacctmgr -i modify qos q1 set bogus=1
r sacctmgr -i modify qos q1 set priority=5 flags=DenyOnLimit maxwall=60
r sacctmgr -i modify qos where name=q1 set priority=5
r sacctmgr -i modify qos nosuch set priority=5
r sacctmgr -i modify qos set priority=5 where name=q1
r sacctmgr -i modify qos q1,normal set grace=0
r sacctmgr -i modify qos q1
r sacctmgr -i modify qos q1 set
`
