import { type ChildProcess, spawn } from 'node:child_process'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'
import type { ScriptEnd } from './shellFiles.ts'

/** A running container. */
export interface Container {
  /** Runs a script of the container's shell, and kills the client when the signal is aborted. Rejects if the container cannot be reached. */
  run(script: string, args: readonly string[], options: RunOptions): Promise<ScriptEnd>
  /** Starts `docker exec` with these arguments after the container's name. */
  start(options: readonly string[], args: readonly string[]): ChildProcess
  /** True if the container is still running. */
  runs(): Promise<boolean>
  /** Ends and removes the container; idempotent. */
  close(): Promise<void>
}

interface RunOptions {
  readonly signal: AbortSignal
  readonly input?: Uint8Array | undefined
}

interface ContainerOptions {
  readonly program: string
  readonly name: string
  readonly clock: Clock
  /** Arguments of the client, ending with the image, whose entry point is `/bin/sh`. */
  readonly args: readonly string[]
  readonly root: string
  /** True if the root is in no mount, so that any user of the container may write in it. */
  readonly isOwnRoot: boolean
}

/** Time limits for the container to start, for one script, and for the container to end, in milliseconds. */
const startMs = 60_000
const scriptMs = 120_000
const endMs = 2_000
/** Maximum size of a script's output in bytes: a part of a file, or a list. */
const maxOutBytes = 64 * 1024 * 1024
const maxErrChars = 4_000

// It lives as long as its input is open: if this process dies, so does the container.
const keeper = 'echo ready; exec cat >/dev/null'

/** Variables that tell the Docker client where its engine is. */
const clientVariables = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'DOCKER_API_VERSION',
  'PATH',
  'HOME',
  'XDG_RUNTIME_DIR',
]
const clientEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => clientVariables.includes(name)))

/** Starts a container; resolves once it is running. Rejects with Docker's message. */
export async function container(options: ContainerOptions): Promise<Container> {
  const { program, name, clock, args, root, isOwnRoot } = options
  const main = spawn(program, [...args, '-c', keeper], { env: clientEnv(), stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<string>((done) => {
    let said = ''
    main.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-maxErrChars)
    })
    main.stdin.on('error', () => {})
    main.once('error', (thrown) => done(messageOf(thrown)))
    main.once('close', (code) => done(said.trim() || `it ended with code ${code}`))
  })
  let why: string | undefined
  void ended.then((said) => {
    why = said
  })
  let isReady = false
  const ready = new Promise<void>((done) => {
    main.stdout.once('data', () => {
      isReady = true
      done()
    })
  })
  await within(clock, startMs, Promise.race([ready, ended]))
  if (!isReady) {
    main.kill('SIGKILL')
    throw new Error(`the container could not be started: ${why ?? `it did not begin within ${startMs} ms`}`)
  }
  const started: Container = {
    start: (flags, rest) =>
      spawn(program, ['exec', ...flags, name, ...rest], { env: clientEnv(), stdio: ['pipe', 'pipe', 'pipe'] }),
    run: (script, given, { signal, input }) =>
      finished(started.start(['--interactive'], ['/bin/sh', '-c', script, 'sh', ...given]), { signal, input, clock }),
    runs: async () => {
      const child = spawn(program, ['inspect', '--format={{.State.Running}}', name], {
        env: clientEnv(),
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      const { out } = await finished(child, { signal: new AbortController().signal, clock }).catch(() => ({
        out: new Uint8Array(),
      }))
      return new TextDecoder().decode(out).trim() === 'true'
    },
    close: async () => {
      main.stdin.end()
      await within(clock, endMs, ended)
      if (why !== undefined) return
      const child = spawn(program, ['rm', '--force', name], { env: clientEnv(), stdio: ['pipe', 'pipe', 'pipe'] })
      await finished(child, { signal: new AbortController().signal, clock }).catch(() => {})
      main.kill('SIGKILL')
    },
  }
  if (isOwnRoot) {
    const child = started.start(
      ['--interactive', '--user=0:0'],
      ['/bin/sh', '-c', 'mkdir -p "$1" && chmod 1777 "$1"', 'sh', root],
    )
    const { code, err } = await finished(child, { signal: new AbortController().signal, clock })
    if (code !== 0) {
      await started.close()
      throw new Error(`the root ${root} could not be made: ${err}`)
    }
  }
  return started
}

/** Collects a client's output until it ends. Rejects if it could not be started, writes too much, takes too long, or the signal is aborted. */
function finished(
  child: ChildProcess,
  { signal, input, clock }: RunOptions & { readonly clock: Clock },
): Promise<ScriptEnd> {
  const pieces: Buffer[] = []
  let size = 0
  let err = ''
  return new Promise<ScriptEnd>((resolve, reject) => {
    const fail = (why: Error): void => {
      end()
      child.kill('SIGKILL')
      reject(why)
    }
    const onAbort = (): void => fail(signal.reason as Error)
    const cancelTimer = clock.after(scriptMs, () => fail(new Error(`it did not answer within ${scriptMs} ms`)))
    const end = (): void => {
      cancelTimer()
      signal.removeEventListener('abort', onAbort)
    }
    signal.addEventListener('abort', onAbort)
    child.stdout?.on('data', (bytes: Buffer) => {
      size += bytes.length
      if (size > maxOutBytes) fail(new Error(`it gave more than ${maxOutBytes} bytes`))
      else pieces.push(bytes)
    })
    child.stderr?.on('data', (bytes: Buffer) => {
      err = (err + bytes.toString()).slice(0, maxErrChars)
    })
    child.stdin?.on('error', () => {})
    child.once('error', fail)
    child.once('close', (code) => {
      end()
      if (isEngine(code, err)) reject(new Error(err.trim()))
      else resolve({ code, out: Buffer.concat(pieces), err: err.trim() })
    })
    child.stdin?.end(input)
    if (signal.aborted) onAbort()
  })
}

/** True if the client failed, rather than the command it ran. */
const isEngine = (code: number | null, err: string): boolean =>
  code !== 0 &&
  /^(?:Error(?: response from daemon)?:|Cannot connect to the Docker daemon|error during connect)/im.test(err)
