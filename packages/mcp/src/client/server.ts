import type * as Sdk from '@modelcontextprotocol/client'
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { version } from '../../../../src/protocol/version.ts'
import type { RedactedStream } from '../../../redaction/src/redactedStream.ts'
import { commandEnvironment } from '../../../tools/src/workspace/commandEnvironment.ts'
import { appsCapability } from './appType.ts'
import type { Elicited } from './elicitation.ts'
import { ofTask, taskOf } from './relatedTask.ts'
import { httpTransport, isReachable } from './httpTransport.ts'
import type { McpSettings } from './options.ts'
import type { ServerSecrets } from './serverSecrets.ts'
import { StandardError } from './standardError.ts'
import { StdioTransport } from './stdioTransport.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'

/** Callbacks of a server. */
export interface ServerHost {
  readonly clock: Clock
  readonly secrets: ServerSecrets
  /** Logs for debugging: the server's output, and errors without an effect. */
  debug(message: string): void
  listChanged(): void
  elicit(request: unknown, signal: AbortSignal): Promise<Elicited>
  /** Takes a notification about a task; returns false for any other. */
  told(method: string, params: { readonly [field: string]: unknown }): boolean
}

/** Time limit for a server's first answer, in milliseconds. */
const probeMs = 2_000
/** Time limit for a server to end a session, in milliseconds. */
const endSessionMs = 1_000
/** Interval between attempts to listen for changes again, in milliseconds. */
const listenAgainMs = 5_000

/** Wraps a server that answered. */
export class Server {
  readonly client: Client
  readonly sdk: typeof Sdk
  /** Resolves with the reason once the server is gone or was closed. */
  readonly lost: Promise<string>
  readonly #settings: McpSettings
  readonly #host: ServerHost
  readonly #transport: Sdk.Transport
  readonly #stderr = new StandardError()
  /** Removes secrets from a text that arrives in pieces, as `clean` does. */
  readonly #told: RedactedStream
  readonly #resolveLost: (why: string) => void
  #isProbing = false
  #isGone = false
  #closing: Promise<void> | undefined
  #stopListening: (() => void) | undefined

  constructor(sdk: typeof Sdk, settings: McpSettings, host: ServerHost) {
    this.sdk = sdk
    this.#settings = settings
    this.#host = host
    this.#told = host.secrets.stream()
    const { promise, resolve } = Promise.withResolvers<string>()
    this.lost = promise
    this.#resolveLost = resolve
    this.#transport = this.#makeTransport()
    this.client = new sdk.Client(
      { name: 'escapement', version },
      {
        // What is not declared is refused: sampling and roots.
        capabilities: {
          ...(settings.elicitation ? { elicitation: { form: {}, url: {} } } : {}),
          ...(settings.apps === true ? { extensions: appsCapability } : {}),
        },
        versionNegotiation: { mode: modeOf(settings.protocol), probe: { timeoutMs: settings.connectMs } },
        inputRequired: { autoFulfill: false },
      },
    )
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
    this.client.onclose = () => this.#gone()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.client.onerror = (error) => this.#failed(error)
    this.client.setNotificationHandler('notifications/tools/list_changed', () => host.listChanged())
    this.client.setNotificationHandler('notifications/message', ({ params }) =>
      host.debug(`it says (${params.level}): ${host.secrets.cutOff(JSON.stringify(params.data).slice(0, 2_000))}`),
    )
    if (settings.elicitation)
      this.client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => ({
        ...(await host.elicit(params, mcpReq.signal)),
        ...ofTask(taskOf(params)),
      }))
  }

  /** Connects to the server. Rejects with the SDK's error; then the server must be closed. */
  async connect(signal: AbortSignal): Promise<void> {
    await this.client.connect(this.#transport, { timeout: this.#settings.connectMs, signal })
    this.#hearTasks()
    signal.throwIfAborted()
    if (this.client.getProtocolEra() === 'modern' && this.client.getServerCapabilities()?.tools?.listChanged === true)
      void this.#listen()
  }

  /** Takes the server's notifications about tasks before the SDK does, which ignores progress once a request is answered. */
  #hearTasks(): void {
    const transport = this.#transport
    const { onmessage } = transport
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
    transport.onmessage = (message, extra) => {
      const isTaken = 'method' in message && !('id' in message) && this.#host.told(message.method, message.params ?? {})
      if (!isTaken) onmessage?.(message, extra)
    }
  }

  /** Removes secrets from a value of the server; call it before any of the value is cut. */
  clean<T>(value: T): T {
    return this.#host.secrets.clean(value)
  }

  /** Describes how the server's process ended, if it has, with its last output; without secrets. */
  get end(): string | undefined {
    const end = this.#transport instanceof StdioTransport ? this.#transport.end : undefined
    return end === undefined ? undefined : `${end}${this.lastWords}`
  }

  /** Last line that the server wrote to standard error, which explains a failure; empty if there is none. Without secrets. */
  get lastWords(): string {
    const line = this.#stderr.lastLine((text) => this.#host.secrets.cutOff(text))
    return line === undefined ? '' : `, and last wrote "${line}"`
  }

  /** True once the server is gone. The connection's machine learns of it a little later. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** True while the server keeps a session, which it may forget. */
  get hasSession(): boolean {
    return this.#transport.sessionId !== undefined
  }

  /** Marks the server as lost for the given reason. */
  giveUp(why: string): void {
    this.#isGone = true
    this.#resolveLost(why)
    void this.close()
  }

  /** Completes a person's sign-in with its code. */
  async finishAuth(parameters: URLSearchParams): Promise<void> {
    if ('finishAuth' in this.#transport)
      await (this.#transport as Sdk.StreamableHTTPClientTransport).finishAuth(parameters)
  }

  /** Resolves once nothing of the server is running. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const keepsSession = this.hasSession && !this.#isGone
    this.#isGone = true
    this.#stopListening?.()
    if (keepsSession) await this.#endSession()
    await this.client.close().catch(() => {})
    await this.#transport.close().catch(() => {})
    this.#resolveLost('it was closed')
  }

  /** Ends the session, which the server would otherwise keep. */
  async #endSession(): Promise<void> {
    const ended = (this.#transport as Sdk.StreamableHTTPClientTransport).terminateSession()
    await within(this.#host.clock, endSessionMs, ended)
  }

  #makeTransport(): Sdk.Transport {
    const { command, args = [], env = {}, cwd, url, headers, auth, authHosts, maxResultBytes } = this.#settings
    const { clock, secrets } = this.#host
    if (url !== undefined)
      return httpTransport(this.sdk, {
        url,
        headers,
        authHosts,
        auth: auth === undefined ? undefined : secrets.watch(auth),
        maxResultBytes,
        onHeader: (value) => secrets.add(value),
      })
    return new StdioTransport({
      command: command!,
      args,
      env: commandEnvironment(process.env, env),
      cwd,
      maxResultBytes,
      clock,
      parse: this.sdk.deserializeMessage,
      refusal: (id, message) => ({ jsonrpc: '2.0', id, error: { code: -32_000, message } }),
      onStderr: (text) => {
        this.#stderr.push(text)
        this.#tell(this.#told.push(text))
      },
    })
  }

  /** Reports text that the server wrote to standard error. */
  #tell(written: { readonly text: string } | undefined): void {
    const text = this.#host.secrets.cutOff(written?.text.trimEnd() ?? '')
    if (text !== '') this.#host.debug(`it wrote to standard error: ${cutEnd(text, 2_000)}`)
  }

  #gone(): void {
    this.#isGone = true
    this.#tell(this.#told.end())
    this.#resolveLost(this.end ?? 'the connection was closed')
  }

  /** Reports an error of the transport. Most of them are harmless, including those of a server that is gone. */
  #failed(error: Error): void {
    this.#host.debug(messageOf(error))
    const { url } = this.#settings
    if (url === undefined || this.#isProbing || this.#isGone) return
    this.#isProbing = true
    void isReachable(url, probeMs, this.#host.clock).then((isThere) => {
      this.#isProbing = false
      if (!isThere && !this.#isGone) this.giveUp('it cannot be reached')
    })
  }

  /** Listens for changes, which servers since the protocol of 2026-07-28 send only to listeners. Reopens a broken stream. */
  async #listen(): Promise<void> {
    for (let isFirst = true; !this.#isGone; isFirst = false) {
      try {
        const subscription = await this.client.listen({ toolsListChanged: true }, { timeout: this.#settings.connectMs })
        // What changed in between was told to nobody.
        if (!isFirst) this.#host.listChanged()
        await subscription.closed
      } catch (thrown) {
        this.#host.debug(`it cannot be listened to: ${messageOf(thrown)}`)
      }
      if (!this.#isGone) await this.#pause()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#host.clock.after(listenAgainMs, resolve)
      this.#stopListening = () => {
        cancel()
        resolve()
      }
    })
  }
}

const modeOf = (protocol: McpSettings['protocol']): 'legacy' | 'auto' | { readonly pin: string } =>
  protocol === 'legacy' || protocol === 'auto' ? protocol : { pin: protocol }
