import type { CallInput } from '../../machines/effectTypes.ts'
import type { Reporter } from '../../machines/agentTypes.ts'
import type { WaitedFor, WaitForCall } from '../../actors/tools/waitForTool.ts'
import { type ErrorCode, RuntimeError, toErrorInfo } from '../../protocol/errors.ts'
import type { ParentLink } from '../../protocol/parentLink.ts'
import type { QueuedMessage } from '../../protocol/runs/queue.ts'
import { RunOutcome } from '../../protocol/runs/run.ts'
import { readHistory } from '../../log/readHistory.ts'
import type { ChildAnswer } from './childAnswer.ts'
import { beginning } from './childHistory.ts'
import { childDeps } from './childDeps.ts'
import type { ChildHosts } from './childHosts.ts'
import { callerOf, firstAnswer, reportOf } from './reports.ts'
import type { TreeAgent } from './treeAgent.ts'
import { isOver, resultOf } from './waitFor.ts'

type Begin = { readonly prompt: QueuedMessage | undefined; readonly isBegun: boolean }

/** Codes of agents that were released here, and report from where they continue. */
const goesOnElsewhere: ReadonlySet<string> = new Set<ErrorCode>(['AGENT_DETACHED', 'STORE_LEASE_LOST'])

/** The agents that one agent called and that outlive it. They are roots without a supervisor. */
export class DetachedAgents {
  readonly #parent: TreeAgent
  readonly #hosts: ChildHosts
  readonly #running = new Map<string, TreeAgent>()
  /** Calls of `wait_for`, each as a function that checks if its wait is over. */
  readonly #waiting = new Set<() => void>()
  #collecting: Promise<unknown> | undefined

  constructor(parent: TreeAgent, hosts: ChildHosts) {
    this.#parent = parent
    this.#hosts = hosts
  }

  get hosts(): TreeAgent[] {
    return [...this.#running.values()]
  }

  get(agentId: string): TreeAgent | undefined {
    return this.#running.get(agentId)
  }

  /** Starts an agent as a detached one. */
  async begin(host: TreeAgent, { key }: Pick<CallInput, 'key'>, { prompt, isBegun }: Begin): Promise<void> {
    host.start()
    this.#running.set(host.agentId, host)
    const { agentId, definition } = host
    const reports = host.input.parent?.reports !== undefined
    host.onEnd((crash) => {
      this.#running.delete(agentId)
      if (crash === null || !reports || goesOnElsewhere.has(crash.code)) return
      const answer = { text: `The agent "${definition.name}" did not finish: ${crash.message}`, isError: true }
      this.#hosts.find(this.#parent.agentId)?.send({ ...reportOf(key, host, answer), at: host.clock.now() })
    })
    if (prompt !== undefined) host.send({ type: 'prompt', ...prompt, at: host.clock.now() })
    else if (isBegun && host.context.pause?.type === 'interrupted')
      host.runs.continue(host.runs.await(new RunOutcome(`${key}/life/${host.conversation.lastSeq}`)), undefined)
    // Once its caller is told that it works, its log must say at what.
    await host.durable()?.catch(() => {})
  }

  /** Collects the reports that the log lacks, and continues agents that a dead process cut off. */
  collect(): void {
    const { reporters, staysPaused } = { ...this.#parent.input.restored?.context, ...this.#parent.input.restored }
    if (reporters === undefined || reporters.length === 0) return
    const failed = (thrown: unknown): void => this.#parent.fail(thrown)
    const each = reporters.map((reporter) => this.#collect(reporter, staysPaused === true).catch(failed))
    this.#collecting = Promise.all(each)
  }

  /** Resolves once all logs have been checked. */
  async collected(): Promise<void> {
    await this.#collecting
  }

  async #collect(reporter: Reporter, staysPaused: boolean): Promise<void> {
    const { childId, name, key } = reporter
    const parent = this.#parent
    const running = this.#hosts.find(childId)
    await running?.durable()
    const agent = parent.definition.agents.get(name)
    const send = (answer: ChildAnswer): void =>
      parent.send({ ...reportOf(key, { agentId: childId, definition: { name } }, answer), at: parent.clock.now() })
    const answer = await firstAnswer(parent.store.read(childId), name)
    if (answer !== undefined) return send(answer)
    // It will report by itself.
    if (running?.isStopped === false || staysPaused) return
    if (agent === undefined)
      return send({ text: `There is no agent "${name}" any more: it did not finish.`, isError: true })
    const lease = await this.#hosts.openLog(childId, parent.store, parent.leasing)
    try {
      const history = await readHistory(parent.store, childId)
      const link = callerOf(history)
      if (link?.agentId !== parent.agentId)
        throw new RuntimeError('CHILD_REFUSED', `The log of "${childId}" is that of another.`)
      const host = this.#hosts.adopt({
        agentId: childId,
        definition: agent.definition,
        lease,
        history,
        incognito: parent.incognito && parent.store,
        link,
        metadata: parent.metadata,
        deps: childDeps(agent, parent, true),
      })
      await this.begin(host, { key }, { prompt: undefined, isBegun: beginning(history, key).isBegun })
    } catch (thrown) {
      await lease.release()
      send({
        text: `The agent "${name}" did not finish: ${toErrorInfo(thrown, 'CHILD_REFUSED').message}`,
        isError: true,
      })
    }
  }

  /** Called when a report or a message may have arrived. */
  look(): void {
    for (const look of this.#waiting) look()
  }

  async waitFor(call: WaitForCall, signal: AbortSignal): Promise<WaitedFor> {
    const parent = this.#parent
    const over = Promise.withResolvers<void>()
    const end = (): void => over.resolve()
    const look = (): void => {
      if (isOver(parent.context, call.agents)) end()
    }
    this.#waiting.add(look)
    signal.addEventListener('abort', end, { once: true })
    const cancel = parent.clock.after(call.ms, end)
    try {
      look()
      await over.promise
    } finally {
      cancel()
      signal.removeEventListener('abort', end)
      this.#waiting.delete(look)
    }
    return resultOf(parent.context, call.agents)
  }
}

interface Detached {
  readonly agentId: string
  readonly definition: { readonly name: string }
  readonly input: { readonly parent?: Pick<ParentLink, 'reports'> }
}

/** Returns the answer to the call of a detached agent. */
export const detachedAnswer = ({ agentId, definition, input }: Detached): ChildAnswer => ({
  text: `The agent "${definition.name}" works on it on its own, as ${agentId}. ${whereTo(input)}`,
  isError: false,
})

const whereTo = ({ parent }: Detached['input']): string =>
  parent?.reports !== undefined
    ? 'Its answer will come to you as a message; wait_for waits for it.'
    : 'Its answer does not come back here.'
