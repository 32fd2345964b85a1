import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'
import type { Container } from './dockerContainer.ts'
import { lexicalPath } from './paths.ts'
import type { ExecEnd, ExecOptions, Workspace } from './port.ts'
import { setVariables, withoutVariables } from './shellFiles.ts'

/**
 * Script that leads a command's group: writes its process id to the client's standard error, runs
 * the command with both outputs merged, ends leftover processes, and reports the exit.
 */
const leader = `
exec 3>&2 2>&1
others() {
  found=
  for each in /proc/[0-9]*/stat; do
    { read -r line < "$each"; } 2>/dev/null || continue
    set -- \${line##*) }
    pid=\${line%% *}
    if [ "$3" = $$ ] && [ "$1" != Z ] && [ "$pid" != $$ ]; then found="$found $pid"; fi
  done
}
command=$1
echo "group $$" >&3
/bin/sh -c -- "$command" 3>&- </dev/null
code=$? left=no
others
if [ -n "$found" ]; then
  left=yes
  kill -TERM $found 2>/dev/null
  sleep 0.2
  others
  if [ -n "$found" ]; then kill -KILL $found 2>/dev/null; fi
fi
echo "end $code $left" >&3
exit 0
`
const kill = 'kill -TERM "-$1" 2>/dev/null; sleep 1; kill -KILL "-$1" 2>/dev/null; exit 0'

interface Place {
  readonly command: string
  readonly root: string
  readonly clock: Clock
  /** Aborted when the workspace is closed. */
  readonly closing: AbortSignal
  readonly files: Pick<Workspace, 'list'>
}

const endOf = (said: string): RegExpExecArray | null => /^end (\d+) (yes|no)$/m.exec(said)

/** Milliseconds to wait for the client once the group has been killed. */
const drainMs = 2_000

/** Runs a command in a container. Killing the client would leave it running there, so its group is killed inside. */
export async function execInContainer(container: Container, place: Place, options: ExecOptions): Promise<ExecEnd> {
  const { command, root, clock, closing, files } = place
  const { signal, timeoutMs, cwd = '.', env = {}, onOutput, started } = options
  if (command.includes('\0')) throw new RuntimeError('WORKSPACE_REFUSED', 'command holds a NUL character')
  for await (const _ of files.list(cwd, { signal, limit: 1, deep: false })) break
  await started?.(null)
  signal.throwIfAborted()
  const folder = lexicalPath(root, cwd)
  const variables = Object.entries(setVariables(env)).map(([name, value]) => `--env=${name}=${value}`)
  const client = container.start(
    [`--workdir=${folder === '.' ? root : `${root}/${folder}`}`, ...variables],
    ['/bin/sh', '-c', leader, 'sh', withoutVariables(command, env)],
  )
  client.stdin?.on('error', () => {})
  client.stdin?.end()
  client.stdout?.on('data', onOutput)
  const closed = new Promise<'closed'>((resolve, reject) => {
    client.once('error', reject)
    client.once('close', () => resolve('closed'))
  })
  let said = ''
  const group = Promise.withResolvers<string | undefined>()
  client.stderr?.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(0, 4_000)
    const number = /^group (\d+)$/m.exec(said)?.[1]
    if (number !== undefined) group.resolve(number)
    // A process that left the group may hold the output open.
    if (endOf(said) !== null) void within(clock, drainMs, closed).then(() => client.kill('SIGKILL'))
  })
  closed.then(
    () => group.resolve(undefined),
    () => group.resolve(undefined),
  )
  let stopped: ExecEnd['stopped']
  let killing: Promise<unknown> | undefined
  const stop = (why: 'timeout' | 'abort'): void => {
    if (killing !== undefined) return
    stopped = why
    killing = (async () => {
      const number = await group.promise
      if (number !== undefined)
        await container.run(kill, [number], { signal: new AbortController().signal }).catch(() => {})
      await within(clock, drainMs, closed)
      client.kill('SIGKILL')
    })()
  }
  const onAbort = (): void => stop('abort')
  const cancelTimer = clock.after(timeoutMs, () => stop('timeout'))
  const both = AbortSignal.any([signal, closing])
  both.addEventListener('abort', onAbort)
  if (both.aborted) onAbort()
  try {
    await closed
    await killing
    if (stopped !== undefined) return { code: null, stopped }
    const end = endOf(said)
    if (end !== null) return { code: Number(end[1]), leftBehind: end[2] === 'yes' }
    // Its leader was killed with it, unless the container is gone.
    if (/^group /m.test(said) && (await container.runs())) return { code: null, killedBy: 'SIGKILL' }
    throw new Error(said.replace(/^group \d+\n?/, '').trim() || 'the container has ended')
  } finally {
    cancelTimer()
    both.removeEventListener('abort', onAbort)
  }
}
