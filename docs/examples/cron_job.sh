#!/bin/sh
# A cron job that is installed on many hosts and must run on one of them. In /etc/cron.d on each host:
#
#     0 3 * * *  reports  RLOCK_URL=redis://redis.example.com  /usr/local/bin/cron_job.sh
#
# The first host takes the lock. The others do not wait: the rlock command ends with status 75, which is no error here.
set -u
PATH=$PATH:/usr/local/bin # cron knows /usr/bin and /bin alone

report() { # the job; the command that rlock runs must be a program, so this script calls itself
    echo "report of $(date +%F) written by $(hostname)"
    sleep "${REPORT_SECONDS:-1}"
}

if [ "${1:-}" = report ]; then
    report
    exit
fi
rlock run --wait 0 nightly-report -- "$0" report
status=$?
[ $status = 75 ] || exit $status
echo 'another host writes the report'
