import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'
import { lexicalPath } from './paths.ts'
import type { ExecEnd, ExecOptions, Workspace } from './port.ts'
import { closedError, setVariables, shellFiles, shellQuoted, withoutVariables } from './shellFiles.ts'

interface AbortOption {
  readonly abortSignal?: AbortSignal
}
interface CommandOption extends AbortOption {
  readonly command: string
  readonly workingDirectory?: string
  readonly env?: Record<string, string>
}

/** Part of the AI SDK's `SandboxSession` that is used here. Sandboxes of every provider have it. */
export interface AiSdkSandbox {
  readonly description: string
  /** Folder in which commands begin; only some sessions have it. */
  readonly defaultWorkingDirectory?: string
  readFile(options: AbortOption & { readonly path: string }): PromiseLike<ReadableStream<Uint8Array> | null>
  writeBinaryFile(options: AbortOption & { readonly path: string; readonly content: Uint8Array }): PromiseLike<void>
  run(
    options: CommandOption,
  ): PromiseLike<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>
  spawn(options: CommandOption): PromiseLike<AiSdkProcess>
}

interface AiSdkProcess {
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  wait(): PromiseLike<{ readonly exitCode: number }>
  kill(): PromiseLike<void>
}

export interface AiSdkSandboxOptions {
  /** Absolute path of the existing sandbox folder that is the root. Default: the session's `defaultWorkingDirectory`, if it has one. */
  readonly root?: string
  /** Programs in the sandbox that the tools may use: with `['rg']` searches read less. Default: none. */
  readonly has?: readonly string[]
  /** The clock for time limits; default: the system's. */
  readonly clock?: Clock
}

/** Milliseconds to wait for a process that was told to end. */
const killMs = 2_000

/**
 * A workspace in a sandbox of the AI SDK: any session that its providers give. The sandbox needs a POSIX shell with the
 * usual programs. The session stays the application's: closing the workspace does not end it. The sandbox itself must
 * end the children of a command. Standard output and standard error may arrive in another order than they were written.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * import { createJustBashSandbox } from '@ai-sdk/sandbox-just-bash'
 * import { fromAiSdkSandbox } from 'escapement/workspaces'
 *
 * const session = await createJustBashSandbox({ cwd: '/home/user/work' }).createSession()
 * const coder = defineAgent({ name: 'coder', model, tools: workspaceTools(fromAiSdkSandbox(session)) })
 * ```
 */
export function fromAiSdkSandbox(session: AiSdkSandbox, options: AiSdkSandboxOptions = {}): Workspace {
  const { has = [], clock = systemClock } = options
  if (typeof session?.run !== 'function' || typeof session.spawn !== 'function')
    throw new RuntimeError('INVALID_OPTION', 'fromAiSdkSandbox: give a sandbox session of the AI SDK.')
  const root = options.root ?? session.defaultWorkingDirectory
  if (root === undefined || !/^\/.*[^/]$/s.test(root))
    throw new RuntimeError(
      'INVALID_OPTION',
      `fromAiSdkSandbox: the session says no folder to work in: give root, an absolute path in the sandbox, not ${JSON.stringify(root)}.`,
    )
  const closing = new AbortController()
  /** Runs an operation in the sandbox. An abort rejects with the reason of the signal. */
  const inSession = async <T>(signal: AbortSignal, work: () => PromiseLike<T>): Promise<T> => {
    if (closing.signal.aborted) throw closedError(root)
    signal.throwIfAborted()
    try {
      return await work()
    } catch (thrown) {
      signal.throwIfAborted()
      throw thrown
    }
  }
  const files = shellFiles({
    root,
    run: (script, args, signal) =>
      inSession(signal, async () => {
        const command = `set -- ${args.map(shellQuoted).join(' ')}\n${script}`
        const { exitCode, stdout, stderr } = await session.run({ command, abortSignal: signal })
        return { code: exitCode, out: new TextEncoder().encode(stdout), err: stderr }
      }),
    get: (path, part, signal) =>
      inSession(signal, async () => {
        const stream = await session.readFile({ path, abortSignal: signal })
        if (stream === null) throw new Error(`${path} is gone`)
        return partOf(stream, part)
      }),
    put: (path, content, signal) =>
      inSession(signal, () => session.writeBinaryFile({ path, content, abortSignal: signal })),
  })
  return {
    description: described(session.description),
    root,
    has,
    ...files,
    exec: (command, given) => exec({ session, root, clock, closing: closing.signal, files }, command, given),
    close: async () => closing.abort(new Error('the workspace was closed')),
  }
}

/** Returns a session's description as sentences. */
const described = (said: string): string => `It runs in a sandbox. ${said.trim().replace(/[^.!?]$/, '$&.')}`.trim()

/** Reads a part of a stream, without reading more than necessary. */
async function partOf(
  stream: ReadableStream<Uint8Array>,
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let at = 0
  for await (const piece of stream) {
    const from = Math.max(0, offset - at)
    if (from < piece.length) pieces.push(piece.slice(from, offset + maxBytes - at))
    at += piece.length
    // Leaving the loop cancels the stream.
    if (at >= offset + maxBytes) break
  }
  return Buffer.concat(pieces)
}

interface Place {
  readonly session: AiSdkSandbox
  readonly root: string
  readonly clock: Clock
  /** Aborted when the workspace is closed. */
  readonly closing: AbortSignal
  readonly files: Pick<Workspace, 'list'>
}

async function exec(place: Place, command: string, options: ExecOptions): Promise<ExecEnd> {
  const { session, root, clock, closing, files } = place
  const { signal, timeoutMs, cwd = '.', env = {}, onOutput } = options
  if (closing.aborted) throw closedError(root)
  signal.throwIfAborted()
  if (command.includes('\0')) throw new RuntimeError('WORKSPACE_REFUSED', 'command holds a NUL character')
  for await (const _ of files.list(cwd, { signal, limit: 1, deep: false })) break
  const folder = lexicalPath(root, cwd)
  const child = await session.spawn({
    command: withoutVariables(command, env),
    workingDirectory: folder === '.' ? root : `${root}/${folder}`,
    env: setVariables(env),
  })
  const passed = Promise.all([pass(child.stdout, onOutput), pass(child.stderr, onOutput)])
  let stopped: ExecEnd['stopped']
  const over = Promise.withResolvers<'stopped'>()
  const stop = (why: 'timeout' | 'abort'): void => {
    if (stopped !== undefined) return
    stopped = why
    const killed = (async () => child.kill())().catch(() => {})
    void within(clock, killMs, Promise.all([killed, passed])).then(() => over.resolve('stopped'))
  }
  const onAbort = (): void => stop('abort')
  const cancelTimer = clock.after(timeoutMs, () => stop('timeout'))
  const both = AbortSignal.any([signal, closing])
  both.addEventListener('abort', onAbort)
  if (both.aborted) onAbort()
  try {
    const ended = Promise.all([child.wait(), passed]).then(([end]) => end)
    const end = await Promise.race([ended.catch((thrown: unknown) => ({ thrown })), over.promise])
    if (stopped !== undefined || end === 'stopped') return { code: null, stopped }
    if ('thrown' in end) throw end.thrown instanceof Error ? end.thrown : new Error(messageOf(end.thrown))
    return { code: end.exitCode }
  } finally {
    cancelTimer()
    both.removeEventListener('abort', onAbort)
  }
}

async function pass(stream: ReadableStream<Uint8Array>, take: (bytes: Uint8Array) => void): Promise<void> {
  for await (const bytes of stream) take(bytes)
}
