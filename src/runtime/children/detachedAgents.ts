import type { Callee } from '../../actors/define/agentDefinition.ts'
import type { CallInput } from '../../machines/effectTypes.ts'
import type { AgentContext } from '../../machines/agentTypes.ts'
import type { AgentReporter } from '../../machines/reporters.ts'
import { WaitedFor, type WaitForCall } from '../../actors/tools/waitForTool.ts'
import { type ErrorCode, RuntimeError, toErrorInfo } from '../../protocol/errors.ts'
import type { QueuedMessage } from '../../protocol/runs/queue.ts'
import { RunOutcome } from '../../protocol/runs/run.ts'
import { backgroundCalls } from '../../machines/background.ts'
import { idOfReporter } from '../../machines/callFacts.ts'
import { readHistory } from '../../log/readHistory.ts'
import type { ChildAnswer } from './childAnswer.ts'
import { beginning } from './childHistory.ts'
import { childDeps } from './runDeps.ts'
import type { ChildHosts } from './childHosts.ts'
import { promptChild } from './copiedState.ts'
import { callerOf, firstAnswer, reportOf } from './reports.ts'
import type { TreeAgent } from './treeAgent.ts'
import { textOf } from '../../protocol/messages.ts'

type Begin = { readonly prompt: QueuedMessage | undefined; readonly isBegun: boolean; readonly agent?: Callee }

/** Codes of agents that were released here, and will report from the process where they continue. */
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

  async begin(host: TreeAgent, { key }: Pick<CallInput, 'key'>, { prompt, isBegun, agent }: Begin): Promise<void> {
    host.start()
    this.#running.set(host.agentId, host)
    const { agentId, machine, shared } = host
    const { definition } = host.view
    const reports = isReporting(host)
    machine.onEnd((crash) => {
      this.#running.delete(agentId)
      if (crash === null || !reports || goesOnElsewhere.has(crash.code)) return
      const answer = { text: `The agent "${definition.name}" did not finish: ${crash.message}`, isError: true }
      const report = { ...reportOf(key, { agentId, definition }, answer), at: shared.clock.now() }
      this.#hosts.find(this.#parent.agentId)?.machine.send(report)
    })
    if (prompt !== undefined) promptChild(host, prompt, { agent, caller: this.#parent })
    else if (isBegun && machine.context.pause?.type === 'interrupted')
      host.runs.continue(host.runs.await(new RunOutcome(`${key}/life/${host.view.conversation.lastSeq}`)), undefined)
    // Once its caller is told that it works, its log must say at what.
    await host.log.durable()?.catch(() => {})
  }

  /** Collects the reports that the log lacks, and continues agents that a dead process cut off. */
  collect(): void {
    const { restored } = this.#parent.machine.input
    const { reporters, staysPaused } = { ...restored?.context, ...restored }
    if (reporters === undefined || reporters.length === 0) return
    const failed = (thrown: unknown): void => this.#parent.announcer.fail(thrown)
    const agents = reporters.filter((one): one is AgentReporter => one.kind === undefined)
    const each = agents.map((reporter) => this.#collect(reporter, staysPaused === true).catch(failed))
    this.#collecting = Promise.all(each)
  }

  /** Resolves once all logs have been checked. */
  async collected(): Promise<void> {
    await this.#collecting
  }

  async #collect(reporter: AgentReporter, staysPaused: boolean): Promise<void> {
    const { childId, name, key } = reporter
    const parent = this.#parent
    const running = this.#hosts.find(childId)
    await running?.log.durable()
    const agent = parent.view.definition.agents.get(name)
    const send = (answer: ChildAnswer): void =>
      parent.machine.send({
        ...reportOf(key, { agentId: childId, definition: { name } }, answer),
        at: parent.shared.clock.now(),
      })
    const answer = await firstAnswer(parent.store.read(childId), name)
    if (answer !== undefined) return send(answer)
    // It will report by itself.
    if (running?.machine.isStopped === false || staysPaused) return
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

  /** Checks the waits, because a report or a message may have arrived. */
  look(): void {
    for (const look of this.#waiting) look()
  }

  async waitFor(call: WaitForCall, signal: AbortSignal): Promise<WaitedFor> {
    const parent = this.#parent
    const over = Promise.withResolvers<void>()
    const end = (): void => over.resolve()
    const look = (): void => {
      if (isOver(parent.machine.context, call.ids)) end()
    }
    this.#waiting.add(look)
    signal.addEventListener('abort', end, { once: true })
    const cancel = parent.shared.clock.after(call.ms, end)
    try {
      look()
      await over.promise
    } finally {
      cancel()
      signal.removeEventListener('abort', end)
      this.#waiting.delete(look)
    }
    return resultOf(parent.machine.context, call.ids, this.#awaitPeople())
  }

  /** Returns the ids of the agents, and of the agent's own background calls, that continue once people decide. */
  #awaitPeople(): ReadonlySet<string> {
    const agents = this.hosts.filter(({ family }) => family.totals.waiting.length > 0).map(({ agentId }) => agentId)
    const calls = backgroundCalls(this.#parent.machine.context).filter(
      ({ question, reported }) => question !== undefined && reported === undefined,
    )
    return new Set([...agents, ...calls.map(({ id }) => id)])
  }
}

/** Returns true if an agent that works on its own reports to the agent that called it. */
export const isReporting = ({ machine: { input } }: TreeAgent): boolean => input.parent?.reports !== undefined

export const detachedAnswer = (agentId: string, name: string, reports: boolean): ChildAnswer => ({
  text: `The agent "${name}" works on it on its own, as ${agentId}. ${whereTo(reports)}`,
  isError: false,
})

const whereTo = (reports: boolean): string =>
  reports ? 'Its answer will come to you as a message; wait_for waits for it.' : 'Its answer does not come back here.'

type Known = Pick<AgentContext, 'reporters' | 'followUps' | 'steering' | 'policy'>

/** Maximum number of UTF-16 units of reports in one result, apart from the first report. */
const maxChars = 100_000

const isAmong = (agents: readonly string[] | undefined, agentId: string): boolean => agents?.includes(agentId) !== false

/** Returns true if none of the awaited agents is still at work, or a message has come for the agent. Pure. */
const isOver = ({ reporters, steering }: Known, agents: readonly string[] | undefined): boolean =>
  steering.length > 0 || !reporters.some((one) => isAmong(agents, idOfReporter(one)))

/**
 * Returns the result for the model: the reports so far, as far as they fit, and the agents still at work. `awaiting`:
 * the ids of those that wait for people. Pure.
 */
function resultOf(
  { reporters, followUps, steering, policy }: Known,
  agents: readonly string[] | undefined,
  awaiting: ReadonlySet<string>,
): WaitedFor {
  const there = followUps.filter(
    (message) => reporterIn(message) !== undefined && isAmong(agents, reporterIn(message)!),
  )
  const held: QueuedMessage[] = []
  let chars = 0
  for (const message of there) {
    chars += textOf(message.content).length
    if (held.length > 0 && chars > maxChars) break
    held.push(message)
  }
  const working = reporters.filter((one) => isAmong(agents, idOfReporter(one)))
  const later = there.length - held.length
  const lines = [
    ...held.map(({ content }) => textOf(content)),
    ...(held.length > 0 || working.length > 0 ? [] : [nothingNew(reporters, agents, policy.background !== undefined)]),
    ...(later === 0 ? [] : [`${later} more have reported: you will read it in messages that follow.`]),
    ...(steering.length > 0 && working.length > 0 ? ['Somebody has spoken to you: that is why this ends early.'] : []),
    ...(working.length === 0 ? [] : [`Still at work: ${names(working, awaiting)}.`]),
  ]
  return new WaitedFor(
    lines.join('\n\n'),
    held.map(({ id }) => id),
  )
}

const reporterIn = ({ provenance }: QueuedMessage): string | undefined =>
  provenance?.type === 'report' ? (provenance.background ?? provenance.agentId) : undefined

const names = (reporters: Known['reporters'], awaiting: ReadonlySet<string> = new Set()): string =>
  reporters
    .map((one) => `${idOfReporter(one)} (${one.name}${awaiting.has(idOfReporter(one)) ? ', waits for a person' : ''})`)
    .join(', ')

/** Returns the words for a wait without a report. `hasCalls`: background calls may be at work too. */
function nothingNew(reporters: Known['reporters'], ids: readonly string[] | undefined, hasCalls: boolean): string {
  const [nobody, none] = hasCalls ? ['Nothing', 'nothing'] : ['No agent', 'none']
  if (ids === undefined) return `${nobody} is at work for you, and ${none} has reported since.`
  const other = hasCalls ? 'Nothing else' : 'No other'
  const others = reporters.length === 0 ? `${nobody} is` : `Those that are: ${names(reporters)}. ${other} is`
  return `${ids.join(', ')}: not at work for you, or reported before. ${others} at work for you.`
}
