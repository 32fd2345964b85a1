import type { Message } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import type { Run } from '../../../src/protocol/runs/run.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { outwardEvent } from '../../bridge/src/server/outwardError.ts'
import type { AgUiRun } from './agUiRun.ts'
import { endingOf } from './endings.ts'
import { ThreadActivity } from './threadActivity.ts'
import { isPrompt } from './threadMessages.ts'

/** A run that was requested from the agent. */
export type StartedRun = Pick<Run, 'requestId' | 'result'>

/** Maximum runs kept with their endings. Older ones are read from the log. */
const maxRuns = 1_000
/** Maximum ids kept of older runs. */
const maxPast = 10_000

/** An agent as an AG-UI thread, and its runs. */
export class Thread {
  readonly agent: DrivenAgent
  readonly activity: ThreadActivity
  /** Ids of accepted user messages. */
  readonly #taken = new Set<string>()
  readonly #runs = new Map<string, AgUiRun>()
  /** Ids of older runs, which are only in the log. */
  readonly #past = new Set<string>()
  readonly #active = new Set<AgUiRun>()
  #unsubscribe: (() => void) | undefined
  /** The newest run requested here: it ends even if the log does not say that the agent has. */
  #asked: StartedRun | undefined

  constructor(agent: DrivenAgent) {
    this.agent = agent
    this.activity = new ThreadActivity(agent)
  }

  run(runId: string): AgUiRun | undefined {
    return this.#runs.get(runId)
  }

  /** Starts a run: `act` dispatches its commands, and throws if the agent refuses. Then the run is not kept. */
  begin(run: AgUiRun, act: () => StartedRun | undefined): void {
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
    const taken = this.agent.taken?.()
    if (taken === undefined) return run.opened()
    run.taken = taken.then(
      () => run.opened(),
      (thrown: unknown) => {
        this.#remove(run)
        this.#runs.delete(run.runId)
        for (const id of run.messageIds) this.#taken.delete(id)
        throw thrown
      },
    )
    // Whoever asked for the run is told.
    run.taken.catch(() => {})
  }

  /** Follows the current activity for a run that requests nothing. The run is not kept. */
  watch(run: AgUiRun): void {
    this.#active.add(run)
    this.#listen()
    run.onOver = () => this.#remove(run)
    run.opened()
  }

  /** True if an older run has this id. */
  hadRun(runId: string): boolean {
    return this.#past.has(runId)
  }

  /** True if a user message with this id was accepted, or if the server itself issued the id. */
  readonly knows = (messageId: string): boolean => {
    if (this.#taken.has(messageId)) return true
    const [, number] = messageId.startsWith(`${this.agent.id}/n`) ? (/\/n(\d+)$/.exec(messageId) ?? []) : []
    return number !== undefined && this.agent.conversation.log().some(({ id }) => id === Number(number))
  }

  /** Gives the user messages in runs of an earlier process the ids of the client's last messages. */
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

  #expect(asked: StartedRun | undefined): void {
    if (asked === undefined) return
    this.#asked = asked
    void asked.result.then(() => {
      if (this.#asked === asked) this.#asked = undefined
    })
  }

  #listen(): void {
    if (this.#unsubscribe !== undefined) return
    this.activity.start()
    this.#unsubscribe = this.agent.subscribe((event) => event.incognito || this.#take(outwardEvent(event)), {
      descendants: true,
    })
  }

  /** Removes a run that needs no more events. */
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

  /** Finds the client's id for a new node: messages join in the order they were sent. */
  #identify(event: EventOf<'message.added'>): void {
    if (event.agentId !== this.agent.id || this.activity.hasMessage(event)) return
    for (const run of this.#active) {
      const id = run.messageIdFor(event)
      if (id !== undefined) return void this.activity.messageIds.set(event.nodeId, id)
    }
  }
}
