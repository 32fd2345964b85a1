import type { AgentContext, ContentBlock, PromptResponse, SessionModeState } from '@agentclientprotocol/sdk'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import { pendingIn } from '../../wire/src/pendingIn.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { outwardEvent } from '../../bridge/src/server/outwardError.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { LiveUpdates } from './liveUpdates.ts'
import { note } from './sessionUpdates.ts'
import { Outbox } from './outbox.ts'
import { pastUpdates } from './pastUpdates.ts'
import { Permissions } from './permissions.ts'
import { promptAnswer, promptContent } from './prompt.ts'
import { permissionModes, type PermissionMode } from '../../../src/protocol/parts/permissions/permissionModes.ts'

const words: { readonly [M in PermissionMode]: string } = {
  ask: 'Asks where a tool or a rule says so.',
  edits: 'Asks, but not about what can be undone.',
  plan: 'Runs only what changes nothing, and shows a plan.',
  auto: 'Asks nobody.',
  refuse: 'Denies what it would ask about.',
}

/** Returns the modes of a session for the answer that opens it. Empty for an agent whose calls are not decided by rules. */
function modesOf(
  agent: DrivenAgent,
  may: (right: 'control' | 'permit') => boolean,
): { readonly modes?: SessionModeState } {
  const permissions = agent.permissions?.() ?? null
  if (permissions === null || !may('control')) return {}
  const offered = permissionModes.filter((mode) => mode !== 'auto' || mode === permissions.mode || may('permit'))
  return {
    modes: {
      currentModeId: permissions.mode,
      availableModes: offered.map((mode) => ({ id: mode, name: mode, description: words[mode] })),
    },
  }
}

/** @throws RuntimeError `INVALID_OPTION` */
function modeIn(modeId: string): PermissionMode {
  const mode = permissionModes.find((one) => one === modeId)
  if (mode !== undefined) return mode
  throw new RuntimeError(
    'INVALID_OPTION',
    `There is no mode ${JSON.stringify(modeId)}, only ${permissionModes.join(', ')}.`,
  )
}

/** Parts of the connection that a session uses. */
export interface SessionHost {
  readonly access: AgentAccess
  readonly client: AgentContext
  readonly showsCompactions: boolean
  /** True if the client can show forms. */
  readonly hasForms: boolean
  isClosed(): boolean
  /** Closes the connection of a client that does not read its updates. */
  disconnect(): void
}

interface Turn {
  readonly requestId: string
  isCancelled: boolean
}

/** An agent as one client sees it: its updates are sent until the session is detached. */
export class AcpSession {
  readonly id: string
  readonly #host: SessionHost
  readonly #outbox: Outbox
  readonly #permissions: Permissions
  readonly #live: LiveUpdates
  #agent: DrivenAgent
  #unsubscribe: () => void
  #turn: Turn | undefined
  #isDetached = false
  /** A note sent with the first turn: the client does not know the session before `session/new` is answered. */
  #remark: string | undefined

  constructor(agent: DrivenAgent, host: SessionHost) {
    const { id: sessionId } = agent
    const { client, access, showsCompactions, hasForms } = host
    this.id = sessionId
    this.#host = host
    this.#agent = agent
    this.#outbox = new Outbox({
      send: (update) => client.notify('session/update', { sessionId, update }),
      maxChars: access.limits.hardLimitBytes,
      onOverflow: () => host.disconnect(),
    })
    const flushed = (): Promise<void> => this.#outbox.flushed()
    const driven = async (): Promise<DrivenAgent> => {
      // One that was at rest goes on with what was decided.
      this.attach(await access.driven(sessionId))
      return this.#agent
    }
    const isClosed = (): boolean => host.isClosed()
    this.#permissions = new Permissions({
      sessionId,
      client,
      hasForms,
      mayAddRules: access.may('control'),
      isClosed,
      flushed,
      driven,
    })
    const isOwn = (requestId: string): boolean => this.#turn?.requestId === requestId
    this.#live = new LiveUpdates({ agentId: sessionId, showsCompactions, isOwn })
    this.#unsubscribe = this.#listen(agent)
  }

  /** The agent's name among the definitions. */
  get definition(): string {
    return this.#agent.definition
  }

  /** Continues with a new instance of the agent, after the old one was closed and woken. */
  attach(agent: DrivenAgent): void {
    if (agent === this.#agent) return
    this.#unsubscribe()
    this.#agent = agent
    // The client may have left while the agent was woken.
    if (!this.#isDetached) this.#unsubscribe = this.#listen(agent)
  }

  remark(text: string): void {
    this.#remark = text
  }

  /** Sends the conversation so far. Resolves once the client has it. */
  async replay(): Promise<void> {
    const { updates, openCalls } = pastUpdates(this.#agent.conversation)
    this.#live.know(openCalls)
    const { growingReply } = this.#agent
    this.#outbox.replay(growingReply === undefined ? updates : [...updates, ...this.#live.catchUp(growingReply)])
    await this.#outbox.flushed()
  }

  /** Asks the client about everything that already waits for a decision. */
  askPending(): void {
    for (const pending of this.#agent.pending()) this.#ask(pending)
  }

  /**
   * Starts a run and waits for it. Rejects with `QUEUE_FULL` while a prompt of this connection is under way, with what `agent.prompt` throws, and with
   * the error of a run that failed.
   */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const { access } = this.#host
    if (this.#turn !== undefined) {
      throw new RuntimeError('QUEUE_FULL', `Session "${this.id}" has a prompt under way; it takes one at a time.`)
    }
    const turn = { requestId: access.newId(), isCancelled: false }
    this.#turn = turn
    // A connection that closes aborts the signals of its requests too: detaching is not cancelling.
    const cancel = (): void => void (this.#host.isClosed() || this.cancel())
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const content = promptContent(blocks)
      this.attach(await access.driven(this.id))
      if (turn.isCancelled) return { stopReason: 'cancelled' }
      this.#sayRemark()
      const { requestId } = turn
      const run = this.#agent.dispatch({ type: 'agent.prompt', agentId: this.id, content }, { requestId })!
      const result = await run.result
      await this.#outbox.flushed()
      return promptAnswer(result)
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#turn = undefined
    }
  }

  /** The modes of the agent, for the answer that opens the session. */
  get modes(): ReturnType<typeof modesOf> {
    return modesOf(this.#agent, (right) => this.#host.access.may(right))
  }

  /** Changes the mode of the agent. Rejects as `agent.setMode`. */
  async setMode(modeId: string): Promise<void> {
    const mode = modeIn(modeId)
    this.attach(await this.#host.access.driven(this.id))
    this.#agent.dispatch({ type: 'agent.mode', agentId: this.id, mode })
    await this.#agent.taken?.()
  }

  /** Aborts the current run. A prompt that waits for another run ends as soon as its own run begins. */
  cancel(): void {
    if (this.#turn !== undefined) this.#turn.isCancelled = true
    try {
      this.#agent.abort()
    } catch (thrown) {
      // It has ended: there is nothing to abort.
      if (!(thrown instanceof RuntimeError)) throw thrown
    }
  }

  /** Aborts and closes the agent; it can be resumed from its log. */
  async end(): Promise<void> {
    this.cancel()
    await this.#agent.close()
    await this.#outbox.flushed()
    this.detach()
  }

  /** Stops sending updates; the agent continues. */
  detach(): void {
    this.#isDetached = true
    this.#unsubscribe()
    this.#permissions.close()
    this.#outbox.close()
  }

  #listen(agent: DrivenAgent): () => void {
    return agent.subscribe((event) => event.incognito || this.#receive(outwardEvent(event)), { descendants: true })
  }

  #receive(event: AgentEvent): void {
    for (const update of this.#live.take(event)) this.#outbox.push(update)
    const pending = pendingIn(event.agentId, event)
    if (pending !== undefined) this.#ask(pending)
    else if (event.type === 'approval.decided' || event.type === 'question.answered' || event.type === 'tool.end')
      this.#permissions.settle(event)
    else if (event.type === 'run.start' && event.requestId === this.#turn?.requestId && this.#turn.isCancelled)
      this.cancel()
  }

  #ask(pending: Pending): void {
    // Nobody is asked who may not decide it.
    if (this.#host.access.may(pending.kind === 'approval' ? 'approve' : 'answer.own'))
      void this.#permissions.ask(this.#agent, pending)
  }

  #sayRemark(): void {
    if (this.#remark !== undefined) this.#outbox.push(note('remark', this.#remark, { type: 'remark' }))
    this.#remark = undefined
  }
}
