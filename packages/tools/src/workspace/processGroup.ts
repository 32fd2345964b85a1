import { spawn } from 'node:child_process'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { hasCode } from '../../../../src/protocol/errors.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'
import { startOf, type ProcessIdentity } from './processIdentity.ts'

/** Program that is started instead of a shell on this machine. */
export interface Launch {
  /** Program and arguments; their output is the output of the command. */
  readonly argv: readonly [string, ...string[]]
  /** Variables added to the environment of that program. */
  readonly env?: { readonly [name: string]: string }
  /** Ends processes that may outlive that program when it is stopped. Never rejects, and settles in bounded time. */
  stop?(): Promise<void>
}

export interface GroupOptions {
  readonly command: string
  /** Program to start. Default: `/bin/sh -c` with the command. */
  readonly launch?: Launch | undefined
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Awaited before the command begins, with the process that is to lead its group; if it rejects, the command never begins. */
  readonly started?: ((pid: number) => Promise<void>) | undefined
  /** Takes standard output and standard error, in the order they were written. */
  onOutput(bytes: Uint8Array): void
}

/** Outcome of the shell; both fields are `null` if it could not be killed. */
export interface GroupEnd {
  readonly code: number | null
  readonly killedBy: NodeJS.Signals | null
  /** Reason why the command was stopped; `undefined` if it was not. */
  readonly stopped: 'timeout' | 'abort' | undefined
  /** True if the shell exited while processes it had started were still running; they were stopped. */
  readonly leftBehind: boolean
}

/** Milliseconds between SIGTERM and SIGKILL, for a command that is stopped. */
const killGraceMs = 1000
/** Milliseconds between SIGTERM and SIGKILL, for processes that a command left running when it ended. */
const leftBehindGraceMs = 200
/** Milliseconds to wait for the output to end once the group is gone: a process that left the group may hold the pipe open. */
const drainMs = 500
const pollMs = 20

// The inner shell gets both outputs on one pipe, so they stay in order; `--` lets a command begin with a dash.
const joinOutputs = 'exec 2>&1; exec /bin/sh -c -- "$1"'
const joinLaunched = 'exec 2>&1; exec "$@"'
// Its standard input ends without a line if this process dies before.
const waitForLine = 'read -r line || exit 125; exec </dev/null; '

/**
 * Runs a shell command in a new process group, without input. The whole group is killed on a timeout, on an abort and when the shell
 * exits. Contract: rejects only if the shell cannot be started; settles in bounded time after a timeout or abort, even if the output
 * is held open. A process that starts its own session (`setsid`) escapes.
 */
export async function runProcessGroup(options: GroupOptions): Promise<GroupEnd> {
  const { signal, clock, launch, started } = options
  const [join, ...parts] =
    launch === undefined ? [joinOutputs, 'sh', options.command] : [joinLaunched, 'sh', ...launch.argv]
  const child = spawn('/bin/sh', ['-c', started === undefined ? join : waitForLine + join, ...parts], {
    cwd: options.cwd,
    env: { ...options.env, ...launch?.env },
    detached: true,
    stdio: [started === undefined ? 'ignore' : 'pipe', 'pipe', 'ignore'],
  })
  const { pid, stdin } = child
  const stdout = child.stdout!
  stdin?.on('error', () => {})
  stdout.on('data', (bytes: Uint8Array) => options.onOutput(bytes))
  const exited = new Promise<Pick<GroupEnd, 'code' | 'killedBy'>>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, killedBy) => resolve({ code, killedBy }))
  })
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  const unkillable = Promise.withResolvers<Pick<GroupEnd, 'code' | 'killedBy'>>()
  let stopped: GroupEnd['stopped']
  let ending: Promise<boolean> | undefined
  const stop = (why: 'timeout' | 'abort'): void => {
    if (ending !== undefined || pid === undefined) return
    stopped = why
    ending = Promise.all([endGroup(pid, clock, killGraceMs), launch?.stop?.()]).then(([had]) => had)
    const wait = ending.then(() => within(clock, drainMs, exited))
    void wait.then(() => unkillable.resolve({ code: null, killedBy: null }))
  }
  let notBegun: { readonly why: unknown } | undefined
  if (started !== undefined && pid !== undefined)
    void started(pid).then(
      () => stdin?.end('\n'),
      (why: unknown) => {
        notBegun = { why }
        stop('abort')
      },
    )
  const onAbort = (): void => stop('abort')
  const cancelTimer = clock.after(options.timeoutMs, () => stop('timeout'))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) stop('abort')
  try {
    const end = await Promise.race([exited, unkillable.promise])
    const leftBehind = await (ending ??= endGroup(pid, clock, leftBehindGraceMs))
    await within(clock, drainMs, closed)
    if (notBegun !== undefined) throw notBegun.why
    return { ...end, stopped, leftBehind: stopped === undefined && leftBehind }
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', onAbort)
    stdout.destroy()
    child.unref()
  }
}

/** Ends a group that an earlier process has left, by the process that leads it. Settles in bounded time. */
export async function endLeftGroup({ pid, start }: ProcessIdentity, clock: Clock): Promise<void> {
  if ((await startOf(pid)) === start) await endGroup(pid, clock, killGraceMs)
}

/** Sends SIGTERM and, after a grace period, SIGKILL to the group. Returns true if it had any processes. Never rejects. */
async function endGroup(pid: number | undefined, clock: Clock, graceMs: number): Promise<boolean> {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return false
  for (let waited = 0; waited < graceMs; waited += pollMs) {
    await within(clock, pollMs)
    if (!signalGroup(pid, 0)) return true
  }
  signalGroup(pid, 'SIGKILL')
  return true
}

/** Returns false if the group has no processes left. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (thrown) {
    return hasCode(thrown, 'EPERM')
  }
}
