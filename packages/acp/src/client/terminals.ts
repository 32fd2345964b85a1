import type { CreateTerminalRequest, TerminalExitStatus, TerminalOutputResponse } from '@agentclientprotocol/sdk'
import type { Workspace } from '../../../tools/src/workspace/port.ts'

/** Maximum number of terminals of a session. */
const mostTerminals = 32
/** Maximum bytes of output kept for a terminal. */
const mostBytes = 1024 * 1024
/** Milliseconds after which a command is ended. */
const mostMs = 3_600_000

/** A command that a foreign agent runs in the workspace. */
class Terminal {
  readonly #abort = new AbortController()
  readonly #limit: number
  #output = Buffer.alloc(0)
  #isCut = false
  #status: TerminalExitStatus | undefined
  readonly ended: Promise<TerminalExitStatus>

  constructor(workspace: Workspace, line: string, { cwd, env, outputByteLimit }: CreateTerminalRequest) {
    this.#limit = Math.min(Math.max(0, outputByteLimit ?? mostBytes), mostBytes)
    this.ended = workspace
      .exec(line, {
        signal: this.#abort.signal,
        timeoutMs: mostMs,
        env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
        ...(cwd == null ? {} : { cwd }),
        onOutput: (bytes) => this.#take(bytes),
      })
      .then(
        ({ code, killedBy }) => ({ exitCode: code, signal: killedBy ?? null }),
        (thrown: unknown) => {
          this.#take(Buffer.from(thrown instanceof Error ? thrown.message : String(thrown)))
          return { exitCode: null, signal: 'SIGKILL' }
        },
      )
      .then((status) => (this.#status = status))
  }

  /** The terminal's output so far. Only its end if it exceeds the limit. */
  get output(): TerminalOutputResponse {
    const text = this.#output.toString('utf8')
    return {
      // A character that was cut in half is left out.
      output: this.#isCut ? text.replace(/^\uFFFD+/, '') : text,
      truncated: this.#isCut,
      ...(this.#status === undefined ? {} : { exitStatus: this.#status }),
    }
  }

  kill(): void {
    this.#abort.abort(new Error('the terminal was ended'))
  }

  #take(bytes: Uint8Array): void {
    const all = Buffer.concat([this.#output, bytes])
    this.#isCut ||= all.length > this.#limit
    this.#output = this.#limit === 0 ? Buffer.alloc(0) : Buffer.from(all.subarray(-this.#limit))
  }
}

/** The terminals of a session. */
export class Terminals {
  readonly #workspace: Workspace
  readonly #open = new Map<string, Terminal>()
  #count = 0

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** @throws Error if there are too many */
  create(line: string, request: CreateTerminalRequest): string {
    if (this.#open.size >= mostTerminals) throw new Error(`${mostTerminals} terminals are open: release some.`)
    this.#count += 1
    const id = `t${this.#count}`
    this.#open.set(id, new Terminal(this.#workspace, line, request))
    return id
  }

  /** @throws Error if there is none */
  get(id: string): Terminal {
    const terminal = this.#open.get(id)
    if (terminal === undefined) throw new Error(`There is no terminal ${JSON.stringify(id)}.`)
    return terminal
  }

  release(id: string): void {
    this.get(id).kill()
    this.#open.delete(id)
  }

  /** Ends all terminals. Resolves once none of their processes runs any more. */
  async close(): Promise<void> {
    const all = [...this.#open.values()]
    for (const terminal of all) terminal.kill()
    this.#open.clear()
    await Promise.all(all.map(({ ended }) => ended))
  }
}
