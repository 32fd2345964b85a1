import { spawn, type ChildProcess } from 'node:child_process'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { LineReader, requestIn } from './lineReader.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'

/** A JSON-RPC message. */
interface RpcMessage {
  readonly jsonrpc: '2.0'
}

export interface StdioOptions<Message extends RpcMessage> {
  readonly command: string
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string }
  readonly cwd?: string | undefined
  readonly maxResultBytes: number
  readonly clock: Clock
  /** Parses a line of JSON; throws if it is not a message. */
  parse(line: string): Message
  /** Returns the answer to a request whose own answer is too long. */
  refusal(id: number, message: string): Message
  /** Takes the text that the server writes to standard error. */
  onStderr(text: string): void
}

/** Milliseconds for a server to end by itself once its input has ended, and again after SIGTERM. */
const graceMs = 1_000
/** Milliseconds for the rest of an ended server's output: a process it started may hold its output open. */
const drainMs = 500
const pollMs = 20
/** Number of characters without a message after which a server is given up. */
const mostGarbage = 250_000

/**
 * Runs a server as a process group of its own, so that neither the server nor a wrapper such as `npx` outlives the other. The SDK's own
 * transport reaches only the process it started, copies a long line with each piece of it, and drops the connection when a line is too long.
 */
export class StdioTransport<Message extends RpcMessage> {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: Message) => void
  readonly #options: StdioOptions<Message>
  readonly #lines: LineReader
  #child: ChildProcess | undefined
  #closing: Promise<void> | undefined
  /** Description of the process's end. */
  #end: string | undefined
  #exited: Promise<void> = Promise.resolve()
  readonly #over = Promise.withResolvers<void>()
  /** Number of characters since the last message that belong to no message. */
  #garbage = 0

  constructor(options: StdioOptions<Message>) {
    this.#options = options
    this.#lines = new LineReader(options.maxResultBytes, {
      line: (line) => this.#take(line),
      tooLong: (excerpt) => this.#refuse(excerpt),
      endless: () => this.#giveUp('it writes a line without an end'),
    })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Marker besides `pid` by which the SDK recognizes a process. */
  get stderr(): null {
    return null
  }

  /** Exit status of the process; `undefined` while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, onStderr } = this.#options
    const child = spawn(command, args, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: hasGroups,
      windowsHide: true,
    })
    this.#child = child
    child.stdout.on('data', (bytes: Buffer) => this.#lines.push(bytes))
    child.stderr.setEncoding('utf8').on('data', onStderr)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error))
    const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()))
    this.#exited = new Promise((resolve) => void child.once('exit', () => resolve()))
    child.once('exit', (code, signal) => {
      this.#end ??= signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`
      void within(this.#options.clock, drainMs, closed).then(() => this.#gone())
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => {
        this.#end = messageOf(error)
        reject(error)
      })
    })
    if (child.pid !== undefined) endWithUs(child.pid)
  }

  send(message: Message): Promise<void> {
    const input = this.#child?.stdin
    if (input == null || this.#end !== undefined) return Promise.reject(new Error(this.#end ?? 'it has not started'))
    return new Promise((resolve, reject) => {
      input.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error == null) return resolve()
        // A server that reads no more is most often ending: its end says why.
        void within(this.#options.clock, 2 * drainMs, this.#over.promise).then(() => reject(error))
      })
    })
  }

  /** Ends the server: its input first, then SIGTERM and SIGKILL for the whole group. Resolves once none of its processes is running. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const child = this.#child
    const { clock } = this.#options
    if (child?.pid !== undefined) {
      child.stdin?.end()
      await within(clock, graceMs, this.#exited)
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (!signalGroup(child, signal)) break
        for (let waited = 0; waited < graceMs && signalGroup(child, 0); waited += pollMs) await within(clock, pollMs)
      }
      await within(clock, graceMs, this.#exited)
    }
    this.#gone()
  }

  /** Ends the transport, because the server sends nothing more. */
  #gone(): void {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    signalGroup(child, 'SIGKILL')
    if (child.pid !== undefined) pids.delete(child.pid)
    child.stdin?.destroy()
    child.stdout?.destroy()
    child.stderr?.destroy()
    this.#end ??= 'it was ended'
    this.onclose?.()
    this.#over.resolve()
  }

  #take(line: string): void {
    const message = this.#messageIn(line)
    if (message !== undefined) {
      this.#garbage = 0
      return this.onmessage?.(message)
    }
    // Some servers print to standard output what is meant for people.
    if (this.#garbage === 0) this.onerror?.(new Error('It wrote a line that is no message.'))
    this.#garbage += line.length + 1
    if (this.#garbage >= mostGarbage) this.#giveUp('it writes nothing but what is no message')
  }

  #giveUp(why: string): void {
    if (this.#end !== undefined || this.#child === undefined) return
    this.#end = why
    signalGroup(this.#child, 'SIGKILL')
  }

  /** Returns the message of a line. Reports invalid lines, but not each line of a flood. */
  #messageIn(line: string): Message | undefined {
    if (!/^\s*\{/.test(line)) return undefined
    try {
      return this.#options.parse(line)
    } catch {
      return undefined
    }
  }

  /** Answers an overlong line's request in place of the server, so that the other calls continue. */
  #refuse(excerpt: string): void {
    const id = requestIn(excerpt)
    const message = `its answer is longer than ${this.#options.maxResultBytes} bytes`
    if (id === undefined) return this.onerror?.(new Error(message))
    this.onmessage?.(this.#options.refusal(id, message))
  }
}

const hasGroups = process.platform !== 'win32'

/** Returns false if none of the group's processes is running. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  const { pid } = child
  if (pid === undefined) return false
  try {
    return process.kill(hasGroups ? -pid : pid, signal)
  } catch (thrown) {
    return hasCode(thrown, 'EPERM')
  }
}

/** Running servers, which are ended if the process exits without closing its runtime. */
const pids = new Set<number>()

function endWithUs(pid: number): void {
  if (pids.size === 0) {
    process.off('exit', endAll)
    process.on('exit', endAll)
  }
  pids.add(pid)
}

function endAll(): void {
  for (const pid of pids)
    try {
      process.kill(hasGroups ? -pid : pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
}
