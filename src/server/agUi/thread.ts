import type { Message } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import { textOf } from '../../protocol/messages.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Run } from '../../runs/run.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import { outwardEvent } from '../bridge/outwardError.ts'
import type { AgUiRun } from './agUiRun.ts'
import { endingOf } from './endings.ts'
import { contextTier } from './said.ts'
import { isPrompt, threadMessages } from './threadMessages.ts'
import type { CalledChild } from './translate.ts'

/** Runs of a thread that are remembered with their ends; of those before the log is asked. */
const maxRuns = 1_000
/** Ids of runs before those. */
const maxPast = 10_000

/** What has come of a reply under way. */
export interface Growing {
  readonly turnIndex: number
  readonly attempt: number
  text: string
  thinking: string
  /** Arguments of its calls as text, by call. */
  readonly calls: Map<string, { name?: string; text: string }>
}

/** An agent as AG-UI clients talk with it: its runs, and what is under way while one goes on. */
export class Thread {
  readonly agent: Agent
  /** Ids that clients gave to user messages, by node. */
  readonly names = new Map<NodeId, string>()
  /** Ids of user messages that were taken. */
  readonly #known = new Set<string>()
  /** Replies under way, by agent. */
  readonly growing = new Map<string, Growing>()
  /** Turns under way, by agent. */
  readonly turns = new Map<string, number>()
  /** Sub-agents that were called and have not answered, by id. */
  readonly children = new Map<string, CalledChild>()
  readonly #runs = new Map<string, AgUiRun>()
  /** Ids of runs that are remembered no more: the log is. */
  readonly #past = new Set<string>()
  readonly #active = new Set<AgUiRun>()
  #unsubscribe: (() => void) | undefined
  /** The newest run that was asked for here: it tells when the agent ended without a word in its log. */
  #asked: Run | undefined

  constructor(agent: Agent) {
    this.agent = agent
  }

  run(runId: string): AgUiRun | undefined {
    return this.#runs.get(runId)
  }

  /**
   * Begins a run: `act` carries out what it asks of the agent, and throws when that is refused; nothing is remembered then.
   */
  begin(run: AgUiRun, act: () => Run | undefined): void {
    this.#active.add(run)
    this.#listen()
    try {
      this.#expect(act())
    } catch (thrown) {
      this.#leave(run)
      throw thrown
    }
    for (const id of run.saying) this.#known.add(id)
    this.#runs.set(run.runId, run)
    if (this.#runs.size > maxRuns) this.#forgetRun(this.#runs.keys().next().value!)
    void this.#asked?.result.then((result) => run.finish(endingOf(this.agent, result, result.text)))
    run.opened()
  }

  #forgetRun(runId: string): void {
    this.#runs.delete(runId)
    this.#past.add(runId)
    if (this.#past.size > maxPast) this.#past.delete(this.#past.values().next().value!)
  }

  /** Whether there was a run of this id, which is in the log at most. */
  hadRun(runId: string): boolean {
    return this.#past.has(runId)
  }

  #expect(asked: Run | undefined): void {
    if (asked === undefined) return
    this.#asked = asked
    void asked.result.then(() => {
      if (this.#asked === asked) this.#asked = undefined
    })
  }

  /** A run is over: nothing of it is listened to any more. */
  ended(run: AgUiRun): void {
    this.#leave(run)
  }

  messages(): Message[] {
    return threadMessages(this.agent.id, this.agent.conversation, this.names)
  }

  /** Whether the client has a user message: it sent it, or sent it as context. */
  isKnown({ nodeId, message }: EventOf<'message.added'>): boolean {
    const { provenance } = message
    return this.names.has(nodeId) || (provenance?.type === 'memoryTier' && provenance.tier === contextTier)
  }

  childOf({ agentId, callId }: { readonly agentId: string; readonly callId: string }): string | undefined {
    for (const child of this.children.values())
      if (child.agentId === agentId && child.callId === callId) return child.childId
    return undefined
  }

  /** Whether a user message of this id was said: by a client, or it is one that we gave the id. */
  readonly knows = (messageId: string): boolean => {
    if (this.#known.has(messageId)) return true
    const [, number] = messageId.startsWith(`${this.agent.id}/n`) ? (/\/n(\d+)$/.exec(messageId) ?? []) : []
    return number !== undefined && this.agent.conversation.log().some(({ id }) => id === Number(number))
  }

  /** What a client said in runs of a process before this one has the ids that the client gave: its last messages are those. */
  name(messages: readonly Message[], agentRunIds: readonly string[]): void {
    const ours = this.agent.conversation
      .log()
      .filter((node) => agentRunIds.includes(node.runId) && node.rebasedFrom === undefined && isPrompt(node))
    const theirs = messages.filter(({ role }) => role === 'user')
    for (let last = 1; last <= Math.min(ours.length, theirs.length); last += 1) {
      const [node, { id }] = [ours.at(-last)!, theirs.at(-last)!]
      if (this.names.has(node.id)) continue
      this.names.set(node.id, id)
      this.#known.add(id)
    }
  }

  /** Sub-agents that were called before anybody listened. */
  take(children: ReadonlyMap<string, CalledChild>): void {
    for (const [childId, child] of children) this.children.set(childId, child)
  }

  /** Text of the last reply of runs. */
  lastText(agentRunIds: readonly string[]): string {
    const last = this.agent.conversation
      .trunk()
      .findLast((node) => agentRunIds.includes(node.runId) && node.message.role === 'assistant')
    return last === undefined ? '' : textOf(last.message.content.filter((block) => block.type === 'text'))
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return
    const { growingReply } = this.agent
    if (growingReply !== undefined) this.growing.set(this.agent.id, { ...growingReply, attempt: 1, calls: new Map() })
    const alive = new Set(this.#alive(this.agent))
    for (const childId of this.children.keys()) if (!alive.has(childId)) this.children.delete(childId)
    this.#unsubscribe = this.agent.subscribe((event) => this.#take(outwardEvent(event)), { descendants: true })
  }

  #alive(agent: Agent): string[] {
    return agent.children().flatMap((child) => [child.id, ...this.#alive(child)])
  }

  #leave(run: AgUiRun): void {
    this.#active.delete(run)
    if (this.#active.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.growing.clear()
    this.turns.clear()
  }

  #take(event: AgentEvent): void {
    this.#before(event)
    for (const run of this.#active) run.take(event)
    this.#after(event)
  }

  #before(event: AgentEvent): void {
    const { agentId } = event
    switch (event.type) {
      case 'reply.start':
        if (this.#isShown(agentId))
          this.growing.set(agentId, {
            turnIndex: event.turnIndex,
            attempt: event.attempt,
            text: '',
            thinking: '',
            calls: new Map(),
          })
        break
      case 'reply.reset':
        this.growing.delete(agentId)
        break
      case 'tool.start':
        if (event.childId !== undefined && this.#isShown(agentId))
          this.children.set(event.childId, { ...event, childId: event.childId })
        break
      case 'turn.start':
        if (this.#isShown(agentId)) this.turns.set(agentId, event.turnIndex)
        break
      case 'turn.end':
        this.turns.delete(agentId)
        break
      case 'message.added':
        this.#name(event)
        break
      case 'reply.delta':
        this.#grow(agentId, 'text', event.text)
        break
      case 'thinking.delta':
        this.#grow(agentId, 'thinking', event.text)
        break
      case 'toolCall.delta':
        this.#growCall(event)
        break
      default:
    }
  }

  /** What an event ended is still needed to tell of it. */
  #after(event: AgentEvent): void {
    const { agentId } = event
    if (event.type === 'reply.end') this.growing.delete(agentId)
    else if (event.type === 'tool.end') {
      const childId = this.childOf(event)
      if (childId !== undefined) this.children.delete(childId)
    } else if (event.type === 'run.end') {
      this.turns.delete(agentId)
      this.growing.delete(agentId)
      if (agentId === this.agent.id) this.children.clear()
    }
  }

  #isShown(agentId: string): boolean {
    return agentId === this.agent.id || this.children.has(agentId)
  }

  #grow(agentId: string, kind: 'text' | 'thinking', text: string): void {
    const growing = this.growing.get(agentId)
    if (growing !== undefined) growing[kind] += text
  }

  #growCall({ agentId, callId, name, text }: EventOf<'toolCall.delta'>): void {
    const calls = this.growing.get(agentId)?.calls
    const call = calls?.get(callId) ?? { text: '' }
    if (name !== undefined) call.name = name
    call.text += text
    calls?.set(callId, call)
  }

  /** Which of the messages that clients sent a node is: they are taken in order. */
  #name(event: EventOf<'message.added'>): void {
    if (event.agentId !== this.agent.id || this.isKnown(event)) return
    for (const run of this.#active) {
      const name = run.nameFor(event)
      if (name !== undefined) return void this.names.set(event.nodeId, name)
    }
  }
}
