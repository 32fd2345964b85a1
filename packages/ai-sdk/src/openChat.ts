import { isWait } from '../../../src/protocol/runs/waits.ts'
import type { AbortOptions } from '../../../src/protocol/bridge/abortOptions.ts'
import type { AgentCommand } from '../../../src/protocol/bridge/commands.ts'
import { decided } from '../../../src/protocol/bridge/commandRules.ts'
import { checkCommand } from '../../../src/protocol/bridge/checkCommand.ts'
import { hasCode, RuntimeError } from '../../../src/protocol/errors.ts'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { inTurn } from '../../../src/actors/timing/inTurn.ts'
import { isAsked } from '../../../src/protocol/asked.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { nameOf, rightsFor, saidAs } from '../../bridge/src/server/commandRights.ts'
import { mustBeOf } from '../../bridge/src/server/oneDefinition.ts'
import { ChatThread, recordsOf } from './chatThread.ts'
import { decisionsIn, mayDecide, type Decided } from './decisions.ts'
import type { Exchange } from './exchange.ts'
import { againId, isAgain, messageIdOf, timesAgain } from './ids.ts'
import { contentOf, type ChatInput, type GivenMessage } from './readChat.ts'
import { childrenIn, exchangesOf, loadedExchanges } from './uiMessages.ts'
import type { UiMessagePart } from './uiTypes.ts'

/** Exchange to show to a client: that of a thread, which must be released, without the parts (`shown`) that the client has; or a past one. */
export type Opened =
  | { readonly thread: ChatThread; readonly requestId: string; readonly shown?: readonly UiMessagePart[] }
  | { readonly past: Exchange }

/** Milliseconds after an answer in which a newly loaded page may still ask for the rest of it. */
const recentMs = 30_000

/** The agents of one server that serve as chats. */
export class Chats {
  readonly #definition: string | undefined
  readonly #abort: AbortOptions
  readonly #threads = new WeakMap<DrivenAgent, ChatThread>()

  constructor(definition: string | undefined, abort: AbortOptions = {}) {
    this.#definition = definition
    this.#abort = abort
  }

  /**
   * Carries out a client's message or decisions, and finds the exchange to show. A user message is never prompted twice.
   *
   * Rejects, without any effect, with `BRIDGE_FORBIDDEN`, `INVALID_OPTION`, `INVALID_CONTENT`, `CALL_NOT_PENDING`,
   * `AGENT_NOT_FOUND` or what `Agent.dispatch` throws.
   */
  open(access: AgentAccess, input: ChatInput): Promise<Opened> {
    // The end of a run must not overtake its beginning.
    return inTurn(this, input.id, async () => {
      access.must('talk', 'chat')
      await this.#check(access, input)
      const thread = await this.#thread(access, input.id, { maySpawn: true })
      const opened = await openIn(thread, input, access).catch((thrown: unknown) => {
        thread.release()
        throw thrown
      })
      if ('past' in opened) thread.release()
      return opened
    })
  }

  /** Checks the rights to the client's decisions before the agent is woken and before any takes effect. Rejects as `open` does. */
  async #check(access: AgentAccess, input: ChatInput): Promise<void> {
    const { messages, answers, trigger } = input
    if (trigger === 'regenerate-message') return access.must('control', 'chat: regenerate-message')
    const last = messages.at(-1)!
    const message = last.role === 'user' ? lastAnswer(messages) : last
    const isDeciding = last.role !== 'user' || Object.keys(answers).length > 0 || mayDecide(message)
    const thread = isDeciding ? await this.#known(access, input.id) : undefined
    if (thread === undefined) return
    try {
      const { agent, exchange } = thread
      const decisions = decisionsIn(agent, exchange, { message, answers })
      for (const { callId, decision } of decisions) access.mustDecide({ callId, decision: nameOf(decision) }, agent)
      if (last.role === 'user') return
      const isPaused = agent.pause !== null && !isWait(agent.pause)
      if (input.resume && isPaused) access.must(rightsFor['agent.resume'], 'resume')
      else if (decisions.length === 0) throw nothingDecided()
    } finally {
      thread.release()
    }
  }

  /**
   * Opens the current exchange of a chat, or one that ended within the last 30 seconds, since the messages of a newly loaded page may be
   * that old. `undefined`: there is none. Rejects with `BRIDGE_FORBIDDEN`, and as the store does.
   */
  resume(access: AgentAccess, id: string): Promise<Opened | undefined> {
    return inTurn(this, id, async () => {
      access.must('see.messages', 'chat')
      const thread = await this.#known(access, id)
      const { exchange } = thread ?? {}
      const isThere =
        exchange !== undefined && (exchange.end === undefined || access.clock.now() - exchange.end.time <= recentMs)
      if (thread !== undefined && isThere) return { thread, requestId: exchange.requestId }
      thread?.release()
      return undefined
    })
  }

  /** Aborts the current run of a chat. */
  stop(access: AgentAccess, id: string): Promise<void> {
    return inTurn(this, id, async () => {
      access.must('talk', 'chat')
      const thread = await this.#known(access, id)
      // One at rest has nothing under way.
      if (thread === undefined) return
      try {
        access.checkAdmitted()
        if (access.works(id)) thread.agent.abort(this.#abort)
      } finally {
        thread.release()
      }
    })
  }

  /** Returns all exchanges of a chat without waking its agent. Rejects with `BRIDGE_FORBIDDEN`, and as the store does. */
  async messages(access: AgentAccess, id: string): Promise<readonly Exchange[]> {
    const records = await recordsOf(access.records(id)).catch((thrown: unknown) => {
      if (hasCode(thrown, 'AGENT_NOT_FOUND')) return []
      throw thrown
    })
    // A fork has the beginning of another log before its own.
    const created = records.findLast((record) => record.type === 'agent.created')
    if (created?.type === 'agent.created') mustBeOf(this.#definition, 'id', { id, definition: created.definition })
    const below = new Map<string, Awaited<ReturnType<typeof recordsOf>>>()
    const ids = childrenIn(records)
    for (const child of ids) {
      const log = await recordsOf(access.records(child)).catch(() => [])
      below.set(child, log)
      ids.push(...childrenIn(log).filter((one) => !ids.includes(one)))
    }
    return loadedExchanges(records, below)
  }

  async #known(access: AgentAccess, id: string): Promise<ChatThread | undefined> {
    return await this.#thread(access, id, { maySpawn: false }).catch((thrown: unknown) => {
      if (hasCode(thrown, 'AGENT_NOT_FOUND')) return undefined
      throw thrown
    })
  }

  async #thread(access: AgentAccess, id: string, { maySpawn }: { readonly maySpawn: boolean }): Promise<ChatThread> {
    const agent = maySpawn ? await this.#agent(access, id) : await access.reading(id)
    if (agent.parent !== undefined || agent.path.length > 0)
      throw new RuntimeError('INVALID_OPTION', `Agent "${id}" is a sub-agent; talk with its root.`)
    mustBeOf(this.#definition, 'id', agent)
    const thread = this.#threads.get(agent) ?? new ChatThread(agent, (agentId, from) => access.records(agentId, from))
    this.#threads.set(agent, thread)
    await thread.follow()
    return thread
  }

  async #agent(access: AgentAccess, id: string): Promise<DrivenAgent> {
    return await access.driven(id).catch(async (thrown: unknown) => {
      if (!hasCode(thrown, 'AGENT_NOT_FOUND')) throw thrown
      return await access.begin(this.#definition ?? access.definitions[0] ?? '', { id }).catch((refused: unknown) => {
        // Another client was faster.
        if (hasCode(refused, 'AGENT_EXISTS')) return access.driven(id)
        throw refused
      })
    })
  }
}

async function openIn(thread: ChatThread, input: ChatInput, access: AgentAccess): Promise<Opened> {
  const last = input.messages.at(-1)!
  access.checkAdmitted()
  const opened =
    input.trigger === 'regenerate-message'
      ? regenerate(thread, last)
      : last.role === 'user'
        ? await say(thread, input, access)
        : decide(thread, input, access)
  await thread.agent.taken?.()
  return opened
}

/** Prompts the agent. If the message was sent before, shows its exchange instead. */
async function say(thread: ChatThread, input: ChatInput, access: AgentAccess): Promise<Opened> {
  const { agent, exchange } = thread
  const last = input.messages.at(-1)!
  if (last.id === '' || isAgain(last.id))
    throw new RuntimeError('INVALID_OPTION', `messages: ${JSON.stringify(last.id)} cannot be the id of a message.`)
  const isKnown = await agent.wasAsked(last.id)
  if (isKnown && input.messageId === last.id)
    throw new RuntimeError('INVALID_OPTION', 'messages: what was said cannot be changed. Send another message.')
  if (exchange !== undefined && messageIdOf(exchange.requestId) === last.id)
    return { thread, requestId: exchange.requestId }
  const past = isKnown ? await pastPrompt(access, agent.id, last.id) : undefined
  if (past === 'waiting') return { thread, requestId: last.id }
  if (past !== undefined) return { past }
  const contents = await Promise.all(
    newMessages(input.messages).map(async (message) =>
      message === last || !(await agent.wasAsked(message.id)) ? [contentOf(message)] : [],
    ),
  )
  const said = saidAs(access, contents.flat())
  const content = said.pop()!
  const context = said.map((earlier) => ({ content: earlier }))
  const decisions = decisionsIn(agent, exchange, { message: lastAnswer(input.messages), answers: input.answers })
  if (thread.isWaiting && decisions.length < agent.pending().length) {
    const names = agent.pending().map(({ name }) => `"${name}"`)
    throw new RuntimeError('INVALID_OPTION', `Decide first what the agent waits for: ${names.join(', ')}.`)
  }
  const prompt = { type: 'agent.prompt', agentId: agent.id, content } as const
  checkCommand(prompt)
  access.checkAdmitted()
  dispatchAll(agent, decisions, access.newId())
  // What is said to an agent that is paused is said instead of what it was about to do.
  if (agent.pause !== null && !isWait(agent.pause)) agent.abort()
  agent.dispatch(context.length === 0 ? prompt : { ...prompt, context }, { requestId: last.id })
  return { thread, requestId: last.id }
}

/** Returns the person's messages after the last answer. */
const newMessages = (messages: readonly GivenMessage[]): GivenMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).filter(({ role }) => role === 'user')

const lastAnswer = (messages: readonly GivenMessage[]): GivenMessage | undefined =>
  messages.findLast(({ role }) => role === 'assistant')

/** Finds the exchange of an earlier prompt. `waiting`: it is still queued. `undefined`: it was withdrawn before it began. */
async function pastPrompt(
  access: AgentAccess,
  id: string,
  requestId: string,
): Promise<Exchange | 'waiting' | undefined> {
  const records = await recordsOf(access.records(id))
  const found = exchangesOf(records, new Map()).find((exchange) => exchange.requestId === requestId)
  if (found !== undefined) return found
  const isAbout = (record: LogRecord): boolean =>
    record.type === 'queue.changed' && (record.added?.id === requestId || record.removed?.includes(requestId) === true)
  const change = records.findLast(isAbout)
  return change?.type === 'queue.changed' && change.added !== undefined ? 'waiting' : undefined
}

const nothingDecided = (): RuntimeError =>
  new RuntimeError('CALL_NOT_PENDING', 'Nothing that was decided waits any more. Load the messages again.')

/** Answers calls and questions that wait for the client, or resumes a paused run. */
function decide(thread: ChatThread, { messages, answers, resume }: ChatInput, access: AgentAccess): Opened {
  const { agent, exchange } = thread
  const message = messages.at(-1)!
  const decisions = decisionsIn(agent, exchange, { message, answers })
  const isResumed = resume && agent.pause !== null && !isWait(agent.pause)
  if (exchange === undefined || (decisions.length === 0 && !isResumed)) throw nothingDecided()
  const requestId = access.newId()
  dispatchAll(agent, decisions, requestId)
  if (isResumed) agent.dispatch({ type: 'agent.resume', agentId: agent.id }, { requestId })
  const shown = message.id === exchange.messageId ? { shown: message.parts as unknown as UiMessagePart[] } : {}
  return { thread, requestId: exchange.requestId, ...shown }
}

/** Dispatches decisions. Values come first, because they may be refused and a decision cannot be undone. */
function dispatchAll(agent: DrivenAgent, decisions: readonly Decided[], requestId: string): void {
  const isValue = ({ decision }: Decided): boolean => typeof decision === 'object'
  for (const { callId, decision, how } of decisions.toSorted((a, b) => Number(isValue(b)) - Number(isValue(a)))) {
    const command = { type: 'agent.decide', agentId: agent.id, callId, ...decided(decision, how) } as AgentCommand
    agent.dispatch(command, { requestId })
  }
}

/** Abandons the newest answer, and requests another one. */
function regenerate(thread: ChatThread, last: GivenMessage): Opened {
  const { agent, exchange } = thread
  if (exchange === undefined || messageIdOf(exchange.requestId) !== last.id)
    throw new RuntimeError('INVALID_OPTION', 'Only the newest answer can be given again.')
  if (exchange.end === undefined)
    throw new RuntimeError('INVALID_OPTION', 'The answer is still under way. Stop it first.')
  const said = agent.conversation
    .trunk()
    .findLast(({ message }) => message.role === 'user' && message.source === 'prompt' && isAsked(message.provenance))
  if (agent.pause !== null) agent.abort()
  if (said !== undefined && agent.conversation.head !== said.id)
    agent.revert(formatNodeId(said.id), { category: 'tangent', summary: 'Another answer was asked for.' })
  const requestId = againId(exchange.requestId, timesAgain(exchange.requestId) + 1)
  const provenance = { type: 'note', kind: 'regenerate' } as const
  const content = 'Answer the message before this one again.'
  agent.dispatch({ type: 'agent.prompt', agentId: agent.id, content, provenance }, { requestId })
  return { thread, requestId }
}
