import type { AgentEvent } from '../../src/protocol/events.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import type { AgentTree } from '../../src/runtime/agents/agentTree.ts'
import type { Run } from '../../src/protocol/runs/run.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { counter, withCode } from '../support/agentHarness.ts'
import { ChaosAgents } from './chaosAgents.ts'
import {
  checkAllowances,
  checkBudgets,
  checkPaths,
  checkSpending,
  checkTraces,
  type AgentTrace,
} from './chaosChecks.ts'
import { chaosPlan, type ChaosPlan } from './chaosPlan.ts'
import { logsOf, resumeTree, type Logs } from './chaosResume.ts'
import { chaosStore, type ChaosStore } from './chaosStore.ts'
import { Dice } from './dice.ts'
import { settlesIn } from './settlesIn.ts'

export interface ChaosOutcome {
  readonly plan: ChaosPlan
  /** Violations, in words. */
  readonly faults: readonly string[]
  readonly agents: number
  readonly depth: number
  readonly crashes: number
  readonly storeFailures: number
  readonly traces: readonly AgentTrace[]
  /** How often what was done from outside. */
  readonly deeds: { readonly [deed: string]: number }
}

const rootId = 'r'

/** Lives one chaotic tree from its seed to its end. Never rejects for what the tree did: that is a fault. */
export async function chaosTree(seed: number, change: Partial<ChaosPlan> = {}): Promise<ChaosOutcome> {
  const dice = new Dice(seed)
  const plan = { ...chaosPlan(dice), ...change }
  const life = await ChaosLife.begin(plan, dice)
  await life.live()
  await life.end()
  return life.outcome()
}

class ChaosLife {
  readonly #plan: ChaosPlan
  readonly #dice: Dice
  readonly #clock: SimulatedClock
  readonly #store: ChaosStore
  readonly #agents: ChaosAgents
  readonly #runtime: Runtime
  readonly #root: Agent
  readonly #runs: Run[] = []
  readonly #ended = new Set<Run>()
  readonly #events = new Map<string, AgentEvent[]>()
  readonly #conversations = new Map<string, Conversation>()
  readonly #pending: Promise<unknown>[] = []
  readonly #decided: string[] = []
  readonly #faults: string[] = []
  readonly #deeds: { [deed: string]: number } = {}
  readonly #traces: AgentTrace[] = []
  /** Logs that the process would have left behind, had it died. */
  #left: Logs | undefined

  static async begin(plan: ChaosPlan, dice: Dice): Promise<ChaosLife> {
    const clock = simulatedClock()
    const store = chaosStore(dice, plan.storeDelay)
    const agents = new ChaosAgents(plan, dice, clock)
    const runtime = await createRuntime({ clock, store, random: dice.roll, newId: counter('q') })
    const root = await runtime.spawn(agents.root, { id: rootId })
    return new ChaosLife(plan, dice, { clock, store, agents, runtime, root })
  }

  private constructor(
    plan: ChaosPlan,
    dice: Dice,
    world: { clock: SimulatedClock; store: ChaosStore; agents: ChaosAgents; runtime: Runtime; root: Agent },
  ) {
    this.#plan = plan
    this.#dice = dice
    this.#clock = world.clock
    this.#store = world.store
    this.#agents = world.agents
    this.#runtime = world.runtime
    this.#root = world.root
    this.#root.subscribe((event) => this.#hear(event), { descendants: true })
  }

  #hear(event: AgentEvent): void {
    const { agentId } = event
    const heard = this.#events.get(agentId) ?? []
    this.#events.set(agentId, heard)
    heard.push(event)
    const agent = this.#runtime.agent(agentId)
    if (agent !== undefined) this.#conversations.set(agentId, agent.conversation as Conversation)
    if (this.#plan.isHot && !this.#agents.isCalm && this.#dice.percent(0.5)) this.#interfere()
  }

  /** Work, and what goes wrong with it. */
  async live(): Promise<void> {
    const dice = this.#dice
    this.#prompt(this.#root)
    for (let moment = 0; moment < 100 && this.#ended.size < this.#runs.length; moment += 1) {
      if (moment > 0 && moment === this.#plan.death) this.#left = await logsOf(this.#store)
      this.#store.failures = dice.percent(30) ? this.#plan.storeFailures : 0
      if (dice.percent(this.#plan.interference)) this.#interfere()
      this.#decide()
      if (this.#root.pause !== null && dice.percent(30)) this.#attempt('resume', () => this.#keep(this.#root.resume()))
      await this.#clock.advance(dice.int(1, 120))
    }
  }

  /** Everything is calmed down, ended and looked at. */
  async end(): Promise<void> {
    this.#store.failures = 0
    this.#agents.isCalm = true
    for (let round = 0; round < 60 && this.#isBusy; round += 1) {
      if (this.#root.pause?.type === 'store') this.#attempt('mend', () => this.#keep(this.#root.resume()))
      else if (round % 3 === 2) this.#attempt('calm', () => this.#root.abort())
      await this.#clock.advance(500)
      if (round % 10 === 9) this.#agents.releaseDeaf()
    }
    if (this.#isBusy) this.#fault(`runs do not end: ${inWords(this.#root.tree())}`)
    const { ending } = this.#plan
    if (ending !== 'runtime') await this.#settles(`root.${ending}()`, this.#root[ending]())
    await this.#settles('runtime.close()', this.#runtime.close())
    await this.#settles('spawns from code', Promise.allSettled(this.#pending))
    this.#agents.releaseDeaf()
    await this.#turns(20)
    await this.#look()
    if (this.#left !== undefined) this.#faults.push(...(await resumeTree(this.#left, rootId, this.#plan)))
    if (this.#plan.death > 0) this.#faults.push(...(await resumeTree(await logsOf(this.#store), rootId, this.#plan)))
  }

  /** A run that somebody waits for, or that steering began. */
  get #isBusy(): boolean {
    const { state, pause } = this.#root
    const isAtRest = ['idle', 'stopped'].includes(state) || (state === 'paused' && pause?.type === 'limit')
    const isDead = this.#events.get(rootId)?.some(isCrash) === true
    return this.#ended.size < this.#runs.length || !(isAtRest || isDead)
  }

  outcome(): ChaosOutcome {
    return {
      plan: this.#plan,
      faults: this.#faults,
      agents: this.#traces.length,
      traces: this.#traces,
      depth: Math.max(0, ...this.#traces.map(({ events }) => events[0]?.path.length ?? 0)),
      crashes: this.#agents.crashes,
      storeFailures: this.#store.failed,
      deeds: this.#deeds,
    }
  }

  #prompt(agent: Agent): void {
    this.#keep(agent.prompt('go to work'))
  }

  #keep(run: Run): void {
    this.#runs.push(run)
    void run.result.then(() => this.#ended.add(run))
  }

  #anyone(): Agent {
    const ids: string[] = []
    const collect = ({ id, children }: AgentTree): void => {
      ids.push(id)
      children.forEach(collect)
    }
    collect(this.#root.tree())
    return this.#runtime.agent(this.#dice.pick(ids)!) ?? this.#root
  }

  #interfere(): void {
    const agent = this.#anyone()
    const isRoot = agent === this.#root
    const deed = this.#dice.weighted({
      abort: 3,
      steer: 3,
      followUp: 2,
      prompt: 1,
      stop: 1,
      close: 1,
      spawn: 2,
      interrupt: 1,
    })
    switch (deed) {
      case 'abort':
        return this.#attempt(deed, () => agent.abort())
      case 'steer':
      case 'followUp':
        // Said to one that settles it would begin a run outside of its caller's budget.
        return this.#attempt(deed, () => agent.state === 'settling' || agent[deed]('something new'))
      case 'prompt':
      case 'interrupt':
        return this.#attempt(deed, () => isRoot && this.#keep(agent[deed]('one more thing')))
      case 'stop':
      case 'close':
        // A close leaves approvals open in the log, to be decided once it is resumed.
        return this.#attempt(
          deed,
          () => !isRoot && agent.pause === null && this.#pending.push(agent[deed]().catch(() => {})),
        )
      case 'spawn':
        return this.#attempt(deed, () => this.#plan.spawnsFromCode && this.#spawn(agent))
    }
  }

  #spawn(agent: Agent): void {
    const child = agent.spawn(this.#agents.guest)
    this.#pending.push(
      child.then(
        (guest) => void (this.#agents.isCalm || this.#attempt('work', () => this.#prompt(guest))),
        (thrown: unknown) => {
          const refusals = ['AGENT_STOPPED', 'CHILD_REFUSED', 'RUNTIME_CLOSED', 'STORE_CLOSED']
          if (this.#plan.storeFailures > 0) refusals.push('STORE_APPEND_FAILED')
          const isExpected = refusals.some((code) => withCode(code)(thrown))
          if (!isExpected) this.#fault(`spawn: ${String(thrown)}`)
        },
      ),
    )
  }

  /** Approvals are given, refused, forgotten for a while, and decided again when it is too late. */
  #decide(): void {
    const dice = this.#dice
    for (const { key, agentId, callId } of this.#root.approvals()) {
      if (!dice.percent(40)) continue
      const decision = dice.percent(60) ? 'approve' : 'deny'
      const owner = this.#runtime.agent(agentId)
      this.#attempt(decision, () =>
        dice.percent(70) || owner === undefined ? this.#root.decide(key, decision) : owner.decide(callId, decision),
      )
      this.#decided.push(key)
    }
    const old = dice.pick(this.#decided)
    if (old === undefined || this.#root.approvals().some(({ key }) => key === old)) return
    try {
      this.#root.decide(old, 'approve')
      this.#fault(`${old} could be decided twice`)
    } catch (thrown) {
      const isExpected = withCode('CALL_NOT_PENDING')(thrown) || withCode('AGENT_STOPPED')(thrown)
      if (!isExpected) this.#fault(`a late decision: ${String(thrown)}`)
    }
  }

  /** Does something that may come too late. */
  #attempt(deed: string, act: () => unknown): void {
    try {
      act()
      this.#deeds[deed] = (this.#deeds[deed] ?? 0) + 1
    } catch (thrown) {
      const tooLate = ['AGENT_STOPPED', 'AGENT_PAUSED', 'NOT_PAUSED', 'CALL_NOT_PENDING', 'QUEUE_FULL']
      if (!tooLate.some((code) => withCode(code)(thrown))) this.#fault(`${deed}: ${String(thrown)}`)
    }
  }

  #fault(what: string): void {
    this.#faults.push(what)
  }

  async #settles(what: string, work: Promise<unknown>): Promise<void> {
    if (!(await settlesIn(this.#clock, work)))
      return this.#fault(`${what} does not come to its end: ${inWords(this.#root.tree())}`)
    await work.catch((thrown: unknown) => this.#fault(`${what} rejects: ${String(thrown)}`))
  }

  async #turns(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve))
  }

  async #look(): Promise<void> {
    const { faults, effects } = this.#agents
    this.#faults.push(...faults)
    if (this.#clock.pending > 0) this.#fault(`${this.#clock.pending} timers are left`)
    if (this.#store.openLogs.size > 0) this.#fault(`still open: ${[...this.#store.openLogs].join(', ')}`)
    if (this.#runtime.agents().length > 0)
      this.#fault(
        `still there: ${this.#runtime
          .agents()
          .map(({ id }) => id)
          .join(', ')}`,
      )
    const stray = effects.filter(({ isOver, signal }) => !isOver && !signal.aborted)
    for (const { name } of stray) this.#fault(`nobody told the ${name} to stop`)
    for (const [agentId, records] of await logsOf(this.#store)) {
      this.#traces.push(this.#trace(agentId, records))
      if (this.#runtime.agent(agentId) !== undefined) this.#fault(`${agentId} is still there`)
    }
    const isStoreSound = this.#store.failed === 0
    this.#faults.push(...checkTraces(this.#traces, { isStoreSound }), ...checkPaths(this.#traces))
    if (!isStoreSound) return
    this.#faults.push(...checkSpending(this.#traces))
    // Children that code attached have no budget.
    if (this.#plan.spawnsFromCode) return
    this.#faults.push(...checkBudgets(this.#traces), ...checkAllowances(this.#traces))
  }

  #trace(agentId: string, records: readonly LogRecord[]): AgentTrace {
    const created = records[0]
    const line = created?.type === 'agent.created' ? [...created.path, agentId] : [agentId]
    const last = records.at(-1)?.time ?? 0
    const isTorn =
      (this.#plan.stallMs < Infinity && agentId !== rootId) ||
      line.some((id) => (this.#events.get(id) ?? []).some((event) => isCrash(event) && event.time >= last))
    const events = this.#events.get(agentId) ?? []
    if (isLeftForLater(records)) return { agentId, records, events, conversation: undefined, isTorn: true }
    return { agentId, records, events, conversation: this.#conversations.get(agentId), isTorn }
  }
}

/** A child of code's that was closed: what waits in it for a decision or to be gone on with waits on. */
function isLeftForLater(records: readonly LogRecord[]): boolean {
  const [created] = records
  if (created?.type !== 'agent.created' || created.parent === undefined || created.parent.callId !== undefined)
    return false
  const last = records.findLast((record) => record.type === 'run.start' || record.type === 'run.end')
  if (last?.type === 'run.end') return last.reason?.type === 'interrupted'
  const decided = new Set(records.flatMap((record) => (record.type === 'tool.end' ? [record.callId] : [])))
  return records.some((record) => record.type === 'approval.requested' && !decided.has(record.callId))
}

const isCrash = (event: AgentEvent): boolean => event.type === 'error' && event.error.message.startsWith('a defect')

const inWords = ({ id, state, children }: AgentTree): string =>
  children.length === 0 ? `${id} ${state}` : `${id} ${state} [${children.map(inWords).join(', ')}]`
