import type { Message } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import type { Run } from '../../runs/run.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import { outwardEvent } from '../bridge/outwardError.ts'
import type { AgUiRun } from './agUiRun.ts'
import { endingOf } from './endings.ts'
import { ThreadActivity } from './threadActivity.ts'
import { isPrompt } from './threadMessages.ts'

/** Runs of a thread that are remembered with their ends; of those before the log is asked. */
const maxRuns = 1_000
/** Ids of runs before those. */
const maxPast = 10_000

/** An agent as AG-UI clients talk with it: its runs, which hear of it while they go on. */
export class Thread {
  readonly agent: Agent
  readonly activity: ThreadActivity
  /** Ids of user messages that were taken. */
  readonly #taken = new Set<string>()
  readonly #runs = new Map<string, AgUiRun>()
  /** Ids of runs that are remembered no more: the log is. */
  readonly #past = new Set<string>()
  readonly #active = new Set<AgUiRun>()
  #unsubscribe: (() => void) | undefined
  /** The newest run that was asked for here: it tells when the agent ended without a word in its log. */
  #asked: Run | undefined

  constructor(agent: Agent) {
    this.agent = agent
    this.activity = new ThreadActivity(agent)
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
    run.onOver = () => this.#remove(run)
    try {
      this.#expect(act())
    } catch (thrown) {
      this.#remove(run)
      throw thrown
    }
    for (const id of run.messageIds) this.#taken.add(id)
    this.#runs.set(run.runId, run)
    if (this.#runs.size > maxRuns) this.#forget(this.#runs.keys().next().value!)
    void this.#asked?.result.then((result) => run.finish(endingOf(this.agent, result, result.text)))
    run.opened()
  }

  /** Whether there was a run of this id, which is in the log at most. */
  hadRun(runId: string): boolean {
    return this.#past.has(runId)
  }

  /** Whether a user message of this id was taken: from a client, or it is one that we gave the id. */
  readonly knows = (messageId: string): boolean => {
    if (this.#taken.has(messageId)) return true
    const [, number] = messageId.startsWith(`${this.agent.id}/n`) ? (/\/n(\d+)$/.exec(messageId) ?? []) : []
    return number !== undefined && this.agent.conversation.log().some(({ id }) => id === Number(number))
  }

  /** What a client said in runs of a process before this one has the ids that the client gave: its last messages are those. */
  adoptMessageIds(messages: readonly Message[], agentRunIds: readonly string[]): void {
    const ours = this.agent.conversation
      .log()
      .filter((node) => agentRunIds.includes(node.runId) && node.rebasedFrom === undefined && isPrompt(node))
    const theirs = messages.filter(({ role }) => role === 'user')
    for (let last = 1; last <= Math.min(ours.length, theirs.length); last += 1) {
      const [node, { id }] = [ours.at(-last)!, theirs.at(-last)!]
      if (this.activity.messageIds.has(node.id)) continue
      this.activity.messageIds.set(node.id, id)
      this.#taken.add(id)
    }
  }

  #forget(runId: string): void {
    this.#runs.delete(runId)
    this.#past.add(runId)
    if (this.#past.size > maxPast) this.#past.delete(this.#past.values().next().value!)
  }

  #expect(asked: Run | undefined): void {
    if (asked === undefined) return
    this.#asked = asked
    void asked.result.then(() => {
      if (this.#asked === asked) this.#asked = undefined
    })
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return
    this.activity.start()
    this.#unsubscribe = this.agent.subscribe((event) => this.#take(outwardEvent(event)), { descendants: true })
  }

  /** Nothing of a run is listened to any more. */
  #remove(run: AgUiRun): void {
    this.#active.delete(run)
    if (this.#active.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.activity.stop()
  }

  #take(event: AgentEvent): void {
    this.activity.before(event)
    if (event.type === 'message.added') this.#identify(event)
    for (const run of this.#active) run.take(event)
    this.activity.after(event)
  }

  /** Which of the messages that clients sent a node is: they are taken in order. */
  #identify(event: EventOf<'message.added'>): void {
    if (event.agentId !== this.agent.id || this.activity.hasMessage(event)) return
    for (const run of this.#active) {
      const id = run.messageIdFor(event)
      if (id !== undefined) return void this.activity.messageIds.set(event.nodeId, id)
    }
  }
}
