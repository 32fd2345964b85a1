import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { quietClock } from '../../../../src/protocol/ports/clock.ts'
import type { Redaction } from '../../../../src/actors/tools/toolContext.ts'
import { StandardError } from '../../../mcp/src/client/standardError.ts'
import { StdioTransport } from '../../../mcp/src/client/stdioTransport.ts'
import { commandEnvironment } from '../../../tools/src/workspace/commandEnvironment.ts'
import { startOf, type ProcessIdentity } from '../../../tools/src/workspace/processIdentity.ts'

export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
}

/** Maximum size of a message in bytes. */
const maxMessageBytes = 64 * 1024 * 1024

/** A foreign agent in its own process group, with the messages of its standard streams. */
export class AgentProcess {
  readonly #transport: StdioTransport<AnyMessage>
  readonly #stderr = new StandardError()
  readonly #redact: Redaction | undefined
  readonly stream: Stream

  constructor({ command, args, cwd, env }: Command, redact: Redaction | undefined) {
    this.#redact = redact
    const transport = new StdioTransport<AnyMessage>({
      command,
      args,
      cwd,
      env: commandEnvironment(process.env, env),
      maxResultBytes: maxMessageBytes,
      // What is left when this process ends is killed then.
      clock: quietClock,
      parse: messageIn,
      refusal: (id, message) => ({ jsonrpc: '2.0', id, error: { code: -32_000, message } }),
      onStderr: (text) => this.#stderr.push(text),
    })
    this.#transport = transport
    // A process that was started by it may write on after the connection is over.
    let isRead = true
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
          transport.onmessage = (message) => {
            if (isRead) controller.enqueue(message)
          }
          // oxlint-disable-next-line unicorn/prefer-add-event-listener
          transport.onclose = () => {
            if (isRead) controller.close()
            isRead = false
          }
        },
        cancel: () => {
          isRead = false
          return this.close()
        },
      }),
      writable: new WritableStream<AnyMessage>({ write: (message) => transport.send(message) }),
    }
  }

  /** Starts the process. Rejects if it cannot be started. */
  start(): Promise<void> {
    return this.#transport.start()
  }

  /** Reason why the process ended, with the last line of its standard error; `undefined` while it runs. */
  get end(): string | undefined {
    const { end } = this.#transport
    if (end === undefined) return undefined
    const line = this.#stderr.lastLine((text) => this.#redact?.text(text) ?? text)
    return line === undefined ? end : `${end}, and last wrote ${JSON.stringify(line)}`
  }

  /** Returns the identity by which a later process can end this one. `undefined` if it is not known. */
  async identity(): Promise<ProcessIdentity | undefined> {
    const { pid } = this.#transport
    const start = pid === undefined ? undefined : await startOf(pid)
    return pid === undefined || start === undefined ? undefined : { pid, start }
  }

  /** Ends the process: first its input, then its whole group. Never rejects. */
  close(): Promise<void> {
    return this.#transport.close()
  }
}

function messageIn(line: string): AnyMessage {
  const message: unknown = JSON.parse(line)
  if (!isMessage(message)) throw new TypeError('it is no message')
  return message
}

const isMessage = (value: unknown): value is AnyMessage =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
