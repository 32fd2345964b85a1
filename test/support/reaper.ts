/**
 * Waits until its standard input ends, which happens when the run of the tests has ended in whatever way, and then ends what the run left: the
 * groups of processes that it was told of, and whatever has the mark of the run in its environment. Prints what it had to kill, as JSON.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { isOver, stopwatch } from './deadline.ts'
import { descendants } from './processTable.ts'
import { fileMark, type Reaped, runMark } from './reaping.ts'

const [mark = ''] = process.argv.slice(2)
/** Servers that end with the process that uses them need a moment, longer on a busy machine (`isOver`). */
const graceMs = 3_000
const pollMs = 50

const environmentOf = (pid: string): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // It has ended, or belongs to somebody else.
    return []
  }
}

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
  } catch {
    return ''
  }
}

/** Processes that the run started and that still run, by its mark; nothing where there is no `/proc`. A process that has ended has no command any more. */
function marked(): ReadonlyMap<number, Reaped> {
  let pids: readonly string[]
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  } catch {
    return new Map()
  }
  const found = new Map<number, Reaped>()
  for (const pid of pids) {
    const environment = environmentOf(pid)
    if (!environment.includes(`${runMark}=${mark}`)) continue
    const file = environment.find((entry) => entry.startsWith(`${fileMark}=`))?.slice(fileMark.length + 1)
    const command = commandOf(pid)
    if (command !== '') found.set(Number(pid), { file, command })
  }
  return found
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** True of a process that is still the one that the run started: another process may have got its number since. Where that cannot be seen, it is believed. */
const isOurs = (pid: string): boolean => !existsSync('/proc/self') || environmentOf(pid).includes(`${runMark}=${mark}`)

// What ends the run by a signal to all of its group is not to end this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
let told = ''
for await (const chunk of process.stdin) told += String(chunk)
// The workers with their groups and all below them, where one is busy: those of a run that has come to its end have ended too.
for (const pid of told.split('\n').filter((line) => line !== '' && isOurs(line))) {
  const below = descendants(Number(pid))
  kill(-Number(pid))
  below.forEach(kill)
}
const elapsed = stopwatch()
while (!isOver(elapsed(), graceMs) && marked().size > 0) await wait(pollMs)
const left = marked()
for (const pid of left.keys()) kill(pid)
// Nobody may be there to read it.
process.stdout.on('error', () => {})
if (left.size > 0) process.stdout.write(JSON.stringify([...left.values()]))
