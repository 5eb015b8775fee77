# bash completion for rlock                                -*- shell-script -*-
# SPDX-License-Identifier: Apache-2.0

# The options of one sub-command.
_rlock_options()
{
    local server='--url --config -h --help -V --version'
    case $1 in
        ls) echo "-a --all -l --long --json $server" ;;
        inspect) echo "--json $server" ;;
        force-unlock) echo "--kind --json $server" ;;
        doctor) echo "--strict --json $server" ;;
        bench) echo "--threads --time --kind --one-name --hold --yes --json $server" ;;
        *) echo "-n --nonblock -w --wait -E --conflict-exit-code -s --shared -x --exclusive -c --command -q --quiet -v --verbose
            --kind --lease --kill-after --permits --set-permits --shards --value --codec $server" ;;
    esac
}

_rlock()
{
    local cur prev command word
    local -i i first
    COMPREPLY=()
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}

    # Which sub-command it is, and where the command begins that runs under the lock.
    command=${COMP_WORDS[1]}
    case $command in
        run | ls | inspect | force-unlock | doctor | bench) i=2 ;;
        *) command=run i=1 ;;
    esac
    local -i named=0 first=0
    while ((i < COMP_CWORD)); do
        word=${COMP_WORDS[i]}
        case $word in
            --) ((named)) && first=i+1 && break ;;
            -w | -E | -c | --wait | --timeout | --conflict-exit-code | --command | --kind | --lease | --kill-after | \
                --permits | --set-permits | --shards | --value | --codec | --url | --config | --threads | --time | --hold)
                i+=1 ;;
            -*) # of letters together, the last may have a value, as in -nE 0
                [[ ! $word =~ ^-[nsxev]+[wEc]$ ]] || i+=1 ;;
            *) if ((named)); then first=i && break; else named=1; fi ;;
        esac
        i+=1
    done
    if [[ $command = run ]] && ((first)); then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$first"
        elif declare -F _comp_command_offset >/dev/null; then
            _comp_command_offset "$first"
        fi
        return
    fi

    case $prev in
        --kind)
            local kinds='lock fair spin token signal read write non-reentrant'
            [[ $command = bench ]] || kinds+=' fenced'
            [[ $command = run ]] && kinds+=' sharded group semaphore permit'
            mapfile -t COMPREPLY < <(compgen -W "$kinds" -- "$cur")
            return ;;
        --codec)
            mapfile -t COMPREPLY < <(compgen -W 'kryo5 string' -- "$cur")
            return ;;
        --config)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return ;;
        --url)
            mapfile -t COMPREPLY < <(compgen -W 'redis:// rediss:// unix:// redis-sentinel:// redis-cluster://' -- "$cur")
            compopt -o nospace
            return ;;
        -w | -E | -c | --wait | --timeout | --conflict-exit-code | --command | --lease | --kill-after | --permits | \
            --set-permits | --shards | --value | --threads | --time | --hold)
            return ;;
    esac
    if [[ $cur = -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rlock_options "$command")" -- "$cur")
    elif ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'run ls inspect force-unlock doctor bench' -- "$cur")
    elif [[ $command = run ]] && ((named)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    fi
}

complete -F _rlock rlock
