import {
  client,
  PROTOCOL_VERSION,
  RequestError,
  type ClientConnection,
  type InitializeResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type StopReason,
} from '@agentclientprotocol/sdk'
import { z } from 'zod'
import type { RemoteAnswer, RemoteHost, RemoteTask } from '../../../remote/src/remoteAgent.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { version } from '../../../../src/protocol/version.ts'
import { within } from '../../../../src/protocol/ports/pause.ts'
import type { Workspace } from '../../../tools/src/workspace/port.ts'
import { processIdentitySchema } from '../../../tools/src/workspace/processIdentity.ts'
import { endLeftGroup } from '../../../tools/src/workspace/processGroup.ts'
import { AgentProcess, type Command } from './agentProcess.ts'
import { askPeople } from './askPeople.ts'
import { SessionCalls } from './sessionCalls.ts'
import { SessionText } from './sessionText.ts'
import type { KeptDeed } from './undoWrites.ts'
import { WorkspaceRequests } from './workspaceRequests.ts'

export interface AcpSettings extends Command {
  readonly name: string
  /** Workspace offered to the agent. Absent: the agent is offered neither files nor terminals. */
  readonly workspace: Workspace | undefined
  /** Id of the sign-in method, one of those that the agent offers. */
  readonly authMethod: string | undefined
  readonly startMs: number
  /** True if the data needed to undo the agent's work is kept. */
  readonly isKept: boolean
}

const handleSchema = lazily(() =>
  z.object({ sessionId: z.string(), process: processIdentitySchema().optional().catch(undefined) }),
)
const sessionSchema = lazily(() => z.object({ sessionId: z.string().min(1).max(1_000) }))

/** Milliseconds that an agent has to end a cancelled prompt. */
const cancelMs = 1_000

const goOn =
  'You were interrupted in the middle of this task, and your process was started anew. See what you have done already, do what is left, and answer as you were asked to.'

/** Runs a foreign agent once: its process, a session, and the prompt in it. */
export class AcpLife {
  readonly #settings: AcpSettings
  readonly #task: RemoteTask
  readonly #host: RemoteHost
  readonly #process: AgentProcess
  readonly #text: SessionText
  readonly #files: WorkspaceRequests | undefined
  readonly #calls: SessionCalls
  #sessionId: string | undefined

  constructor(settings: AcpSettings, task: RemoteTask, host: RemoteHost) {
    this.#settings = settings
    this.#task = task
    this.#host = host
    this.#process = new AgentProcess(settings, host.redact)
    this.#text = new SessionText(host)
    const { workspace, name, isKept } = settings
    this.#calls = new SessionCalls((title) => {
      if (isKept) host.keep({ did: cutEnd(title, 200) } satisfies KeptDeed)
    })
    this.#files =
      workspace === undefined
        ? undefined
        : new WorkspaceRequests({
            agent: name,
            host,
            workspace,
            isKept,
            isAllowed: (kind) => this.#calls.covers(kind),
          })
  }

  /** Settles once the process is gone. */
  async run(): Promise<RemoteAnswer> {
    const { signal } = this.#host
    const handle = handleSchema().safeParse(this.#task.handle)
    if (handle.success && handle.data.process !== undefined) await endLeftGroup(handle.data.process, systemClock)
    signal.throwIfAborted()
    await this.#start()
    const connection = this.#connect()
    try {
      return await this.#work(connection, handle.data?.sessionId)
    } catch (thrown) {
      signal.throwIfAborted()
      throw this.#crash() ?? thrown
    } finally {
      await this.#cancel(connection)
      await Promise.all([this.#process.close(), this.#files?.terminals.close()])
      this.#calls.close()
      connection.close()
    }
  }

  async #start(): Promise<void> {
    const { name, command } = this.#settings
    try {
      await this.#process.start()
    } catch (thrown) {
      throw new Error(`The agent "${name}" could not be started (${command}): ${messageOf(thrown)}`, { cause: thrown })
    }
  }

  /** Returns the error that causes a restart, if the process is gone. */
  #crash(): RuntimeError | undefined {
    const { end } = this.#process
    if (end === undefined) return undefined
    return new RuntimeError('CHILD_CRASHED', `The process of the agent "${this.#settings.name}" is gone: ${end}.`)
  }

  #connect(): ClientConnection {
    const files = this.#files
    const app = client({ name: 'escapement' })
      .onNotification('session/update', ({ params }) => {
        if (params.sessionId === this.#sessionId) this.#take(params.update)
      })
      .onRequest('session/request_permission', ({ params }) => this.#permission(params))
    if (files !== undefined)
      app
        .onRequest('fs/read_text_file', ({ params }) => files.read(params))
        .onRequest('fs/write_text_file', ({ params }) => files.write(params))
        .onRequest('terminal/create', ({ params }) => files.createTerminal(params))
        .onRequest('terminal/output', ({ params }) => files.terminals.get(params.terminalId).output)
        .onRequest('terminal/wait_for_exit', ({ params }) => files.terminals.get(params.terminalId).ended)
        .onRequest('terminal/kill', ({ params }) => {
          files.terminals.get(params.terminalId).kill()
          return {}
        })
        .onRequest('terminal/release', ({ params }) => {
          files.terminals.release(params.terminalId)
          return {}
        })
    return app.connect(this.#process.stream)
  }

  async #work({ agent }: ClientConnection, known: string | undefined): Promise<RemoteAnswer> {
    const { cwd, name, authMethod } = this.#settings
    const isOffered = this.#files !== undefined
    const hello = await this.#inTime(
      agent.request('initialize', {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: 'escapement', version },
        clientCapabilities: { fs: { readTextFile: isOffered, writeTextFile: isOffered }, terminal: isOffered },
      }),
    )
    if (hello.protocolVersion !== PROTOCOL_VERSION)
      throw new Error(
        `The agent "${name}" speaks version ${hello.protocolVersion} of the Agent Client Protocol, and this speaks ${PROTOCOL_VERSION}.`,
      )
    if (authMethod !== undefined) await this.#inTime(agent.request('authenticate', { methodId: authMethod }))
    if (known === undefined) {
      const made: unknown = await this.#inTime(
        agent.request('session/new', { cwd, mcpServers: [] }).catch((thrown: unknown) => {
          throw withLogin(name, hello, thrown)
        }),
      )
      this.#sessionId = sessionSchema().parse(made).sessionId
      const identity = await this.#process.identity()
      const handle = { sessionId: this.#sessionId, ...(identity === undefined ? {} : { process: identity }) }
      await this.#host.note(this.#sessionId, handle)
      return this.#prompt(agent, this.#task.text)
    }
    if (hello.agentCapabilities?.loadSession !== true)
      return {
        text: `The agent "${name}" was interrupted, and it cannot load its session again: it is not known how far it came.`,
        isError: true,
      }
    this.#sessionId = known
    this.#text.replay(true)
    await this.#inTime(agent.request('session/load', { sessionId: known, cwd, mcpServers: [] }))
    this.#text.replay(false)
    await this.#host.note(known, { sessionId: known, process: await this.#process.identity() })
    return this.#prompt(agent, this.#text.wasAsked(this.#task.text) ? goOn : this.#task.text)
  }

  async #prompt(agent: ClientConnection['agent'], text: string): Promise<RemoteAnswer> {
    const { name } = this.#settings
    const asked = agent.request('session/prompt', {
      sessionId: this.#sessionId!,
      prompt: [{ type: 'text', text }],
    })
    const response = await untilAborted(asked, this.#host.signal)
    this.#text.ended(response)
    const { answer } = this.#text
    const { refused } = this.#calls
    if (response.stopReason === 'end_turn' && refused === undefined) return { text: answer }
    const why =
      refused === undefined
        ? (whyUnfinished[response.stopReason] ?? `it ended with ${JSON.stringify(response.stopReason)}`)
        : `it ended when it was not permitted to do this: ${cutEnd(refused, 500)}`
    const words = answer === '' ? '' : `\n\nIts last words were:\n${answer}`
    return { text: `The agent "${name}" did not finish: ${why}.${words}`, isError: true }
  }

  /** Settles as `answer` does, unless the process ends or the time limit passes first. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { startMs, name } = this.#settings
    const { clock, signal } = this.#host
    const late = Promise.withResolvers<never>()
    const cancel = clock.after(startMs, () =>
      late.reject(new RuntimeError('CHILD_STALLED', `The agent "${name}" did not answer within ${startMs} ms.`)),
    )
    try {
      return await untilAborted(Promise.race([answer, late.promise]), signal)
    } finally {
      cancel()
    }
  }

  #take(update: Parameters<SessionText['take']>[0]): void {
    this.#text.take(update)
    this.#calls.take(update)
  }

  async #permission(asked: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { signal } = this.#host
    const request = { ...asked, toolCall: this.#calls.whole(asked.toolCall) }
    const spell = (path: string): string | undefined => this.#files?.spelled(path)
    try {
      const answer = await askPeople(request, { agent: this.#settings.name, host: this.#host, spell })
      if (signal.aborted) return cancelled
      const { toolCall, options } = request
      const { outcome } = answer
      const chosen =
        outcome.outcome === 'selected' ? options.find(({ optionId }) => optionId === outcome.optionId) : undefined
      if (chosen?.kind.startsWith('allow') === true) this.#calls.allow(toolCall)
      else this.#calls.refuse(toolCall)
      return answer
    } catch {
      // The call is over, or nobody wants to answer.
      return cancelled
    }
  }

  /** Tells the agent that its prompt is cancelled, and waits briefly for the prompt to end. */
  async #cancel({ agent }: ClientConnection): Promise<void> {
    if (!this.#host.signal.aborted || this.#sessionId === undefined || this.#process.end !== undefined) return
    const sent = agent.notify('session/cancel', { sessionId: this.#sessionId })
    await within(
      systemClock,
      cancelMs,
      sent.catch(() => {}),
    )
  }
}

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

const whyUnfinished: { readonly [R in StopReason]?: string } = {
  max_tokens: 'it reached its limit of tokens',
  max_turn_requests: 'it reached its limit of turns',
  refusal: 'it refused',
  cancelled: 'it was cancelled',
}

/** Settles as `promise` does, or rejects with the signal's reason if that aborts first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason as Error)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  promise.catch(() => {})
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
}

/** Adds the sign-in methods to the error of an agent that requires signing in. */
function withLogin(name: string, { authMethods = [] }: InitializeResponse, thrown: unknown): unknown {
  if (!(thrown instanceof RequestError) || thrown.code !== RequestError.authRequired().code) return thrown
  const ways = authMethods.map(({ id, name: title }) => `${id} (${cutEnd(title, 100)})`).join(', ')
  return new Error(
    `The agent "${name}" wants a login: ${thrown.message}. Sign in with its own program, or name one of its ways as authMethod: ${ways || 'it offers none'}.`,
    { cause: thrown },
  )
}
