# fish completion for rlock.
# SPDX-License-Identifier: Apache-2.0

# The sub-command; "run" when it was left out.
function __rlock_command
    set -l words (commandline -opc)
    if set -q words[2]; and contains -- $words[2] ls inspect force-unlock doctor bench
        echo $words[2]
    else
        echo run
    end
end

function __rlock_is
    contains -- (__rlock_command) $argv
end

# The words before the cursor that are neither options nor their values: NAME and COMMAND. The last line of the output is
# the index of the first word of COMMAND, or of the one that is being written.
function __rlock_words
    set -l words (commandline -opc)
    set -l from 2
    set -l count 0
    set -l skip 0
    contains -- "$words[2]" run ls inspect force-unlock doctor bench; and set from 3
    set -l i $from
    while test $i -le (count $words); and test $count -lt 2
        set -l word $words[$i]
        if test $skip = 1
            set skip 0
        else if contains -- $word -w -E -c --wait --timeout --conflict-exit-code --command --kind --lease --kill-after \
                --permits --set-permits --shards --value --codec --url --config --threads --time --hold
            set skip 1
        else if string match -qr '^-[nsxev]+[wEc]$' -- $word # of letters together, the last may have a value, as in -nE 0
            set skip 1
        else if test "$word" = --; and test $count = 1
            set i (math $i + 1)
            test $i -le (count $words); and set count 2
            break
        else if not string match -q -- '-*' $word
            set count (math $count + 1)
            test $count = 2; and break
        end
        set i (math $i + 1)
    end
    echo $count
    echo $i
end

# Whether fewer than that many of them are there.
function __rlock_fewer
    set -l found (__rlock_words)
    test $found[1] -lt $argv[1]
end

# What fish completes COMMAND with by itself.
function __rlock_complete_command
    set -l found (__rlock_words)
    set -l words (commandline -opc) (commandline -ct)
    complete -C (string join ' ' -- $words[$found[2]..])
end

complete -c rlock -f
complete -c rlock -n "test (count (commandline -opc)) = 1" -a run -d 'run a command while holding a lock'
complete -c rlock -n "test (count (commandline -opc)) = 1" -a ls -d 'list the locks that are held'
complete -c rlock -n "test (count (commandline -opc)) = 1" -a inspect -d 'show who holds a lock'
complete -c rlock -n "test (count (commandline -opc)) = 1" -a force-unlock -d 'free a lock, whoever holds it'
complete -c rlock -n "test (count (commandline -opc)) = 1" -a doctor -d 'check whether locks are safe with your servers'
complete -c rlock -n "test (count (commandline -opc)) = 1" -a bench -d 'measure how fast locks are'

set -l opts '__rlock_fewer 2'
set -l run "__rlock_is run; and $opts"
complete -c rlock -n "$opts" -l url -x -d 'the server'
complete -c rlock -n "$opts" -l config -r -F -d 'Redisson\'s YAML file'
complete -c rlock -n "$opts" -s h -l help -d 'show a summary'
complete -c rlock -n "$opts" -s V -l version -d 'show the version'
complete -c rlock -n "$run" -s n -l nonblock -d 'give up if the lock is not free now'
complete -c rlock -n "$run" -s w -l wait -x -d 'give up if the lock is not acquired in time'
complete -c rlock -n "$run" -s E -l conflict-exit-code -x -d 'exit status if -n or -w gave up'
complete -c rlock -n "$run" -s s -l shared -d 'acquire the read side'
complete -c rlock -n "$run" -s x -l exclusive -d 'acquire the write side'
complete -c rlock -n "$run" -s c -l command -x -d 'command for the shell'
complete -c rlock -n "$run" -s q -l quiet -d 'say nothing if -n or -w gave up'
complete -c rlock -n "$run" -s v -l verbose -d 'say who holds the lock'
complete -c rlock -n "$run" -l kind -x -d 'what NAME is' \
    -a 'lock fair spin fenced token signal read write non-reentrant sharded group semaphore permit'
complete -c rlock -n "$run" -l lease -x -d 'the lock ends after that time'
complete -c rlock -n "$run" -l kill-after -x -d 'time from SIGTERM to SIGKILL'
complete -c rlock -n "$run" -l permits -x -d 'number of permits to acquire'
complete -c rlock -n "$run" -l set-permits -x -d 'create the semaphore'
complete -c rlock -n "$run" -l shards -x -d 'number of parts of a sharded lock'
complete -c rlock -n "$run" -l value -x -d 'a value of the group'
complete -c rlock -n "$run" -l codec -x -d 'how Java writes the values' -a 'kryo5 string'
complete -c rlock -n '__rlock_is run; and not __rlock_fewer 1' -x -a '(__rlock_complete_command)'
complete -c rlock -n '__rlock_is ls' -s a -l all -d 'strings, too'
complete -c rlock -n '__rlock_is ls' -s l -l long -d 'show processes'
complete -c rlock -n '__rlock_is ls inspect force-unlock doctor bench' -l json -d 'print JSON'
complete -c rlock -n '__rlock_is force-unlock' -l kind -x -d 'whose waiters to wake' \
    -a 'lock fair spin fenced token signal read write non-reentrant'
complete -c rlock -n '__rlock_is doctor' -l strict -d 'a warning counts as a problem'
complete -c rlock -n '__rlock_is bench' -l threads -x -d 'numbers of threads'
complete -c rlock -n '__rlock_is bench' -l time -x -d 'how long to measure each'
complete -c rlock -n '__rlock_is bench' -l kind -x -d 'kind of lock' -a 'lock fair spin token signal read write non-reentrant'
complete -c rlock -n '__rlock_is bench' -l one-name -d 'all threads use one lock'
complete -c rlock -n '__rlock_is bench' -l hold -x -d 'how long each lock is held'
complete -c rlock -n '__rlock_is bench' -l yes -d 'do not ask'
