import type { Client } from '../../../src/client/client.ts'
import type { RemoteAgent } from '../../../src/client/remoteAgent.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { Run } from '../../../../../src/protocol/runs/run.ts'
import type { RunResult } from '../../../../../src/protocol/runs/runResult.ts'
import { Dice } from '../../../../../test/tree/dice.ts'
import { settlesIn } from '../../../../../test/tree/settlesIn.ts'
import { Heard } from '../bridgeHarness.ts'
import { lookingAgent } from './lookingAgent.ts'
import type { MemoryLine } from './memoryWire.ts'
import { checkHeard, checkOnce, checkResult, checkRunEvents, checkTexts, type Given } from './resumeChecks.ts'
import { ResumeWorld, type WorldPlan } from './resumeWorld.ts'

/** Events of one life. Shares are of a hundred moments. */
export interface LifePlan extends WorldPlan {
  /** Turns until people stop giving commands. */
  readonly turns: number
  /** Milliseconds a word and a tool take. */
  readonly workMs: number
  readonly cuts: number
  readonly kills: number
  readonly holds: number
  readonly commands: number
}

export interface LifeOutcome {
  readonly plan: LifePlan
  /** Violations, in words. */
  readonly faults: readonly string[]
  readonly turns: number
  readonly records: number
  readonly connections: number
  readonly kills: number
  readonly holds: number
  /** Commands given, and refused. */
  readonly commands: number
  readonly refused: number
}

const agentId = 'a1'

const planOf = (dice: Dice): LifePlan => ({
  slowness: { delivery: dice.int(0, 6), notice: dice.int(0, 30) },
  writeMs: dice.pick([0, 1, 4, 12])!,
  highWaterBytes: dice.pick([2_000, 8_000, 64_000, 1_000_000])!,
  turns: 200,
  workMs: dice.pick([1, 1, 2])!,
  cuts: dice.pick([0, 3, 10])!,
  kills: dice.pick([0, 1, 3, 6])!,
  holds: dice.pick([0, 2, 5])!,
  commands: dice.pick([2, 6, 15])!,
})

/** Lives one life from its seed: a client is cut off, held up and bereft of its server, and asks for things all the while. */
export async function resumeLife(seed: number, change: Partial<LifePlan> = {}): Promise<LifeOutcome> {
  const dice = new Dice(seed)
  const life = new ResumeLife({ ...planOf(dice), ...change }, dice)
  await life.live()
  return await life.end()
}

interface StartedRun {
  readonly run: Run
  readonly events: AgentEvent[]
  result?: RunResult
}

class ResumeLife {
  readonly #plan: LifePlan
  readonly #dice: Dice
  readonly #world: ResumeWorld
  readonly #faults: string[] = []
  readonly #given: Given[] = []
  readonly #runs: StartedRun[] = []
  readonly #pending = new Set<Promise<unknown>>()
  readonly #heard = new Heard()
  readonly #calm = new Heard()
  readonly #counts = { kills: 0, holds: 0 }
  readonly #client: Client
  readonly #line: MemoryLine
  readonly #observer: Client
  #agent!: RemoteAgent
  #turns = 0
  #nodes = 0
  #busyUntil = 0

  constructor(plan: LifePlan, dice: Dice) {
    this.#plan = plan
    this.#dice = dice
    this.#world = new ResumeWorld(plan, dice, (clock) => lookingAgent(clock, plan.workMs))
    const { client, line } = this.#world.connect()
    this.#client = client
    this.#line = line
    this.#observer = this.#world.connect().client
  }

  async live(): Promise<void> {
    const { clock } = this.#world
    await this.#world.start()
    const spawning = this.#client.spawn('looking', { id: agentId }).then((agent) => (this.#agent = agent))
    if (!(await settlesIn(clock, spawning))) return void this.#faults.push('the agent is not spawned')
    this.#agent.subscribe((event) => this.#hear(event), { fromSeq: 1 })
    this.#observer.agent(agentId).subscribe(this.#calm.listen, { fromSeq: 1, deltas: false })
    for (let moment = 0; this.#turns < this.#plan.turns && moment < 20_000; moment += 1) {
      await this.#disturb()
      if (this.#dice.percent(this.#plan.commands)) this.#command()
      if (this.#pending.size === 0) this.#prompt('prompt', this.#dice.int(1, 60))
      await clock.advance(this.#dice.int(1, 12))
    }
    if (this.#turns < this.#plan.turns) this.#faults.push(`only ${this.#turns} turns in ${this.#plan.turns}`)
  }

  /** Everything calms down, comes to its end and is looked at. */
  async end(): Promise<LifeOutcome> {
    const { clock } = this.#world
    if (!this.#world.isUp) await this.#world.start()
    this.#line.hold(false)
    this.#prompt('prompt', 1)
    for (let left = 60; this.#pending.size > 0 && left > 0; left -= 1) await clock.advance(1_000)
    if (this.#pending.size > 0) this.#faults.push(`${this.#pending.size} commands have no answer`)
    // An agent may go on with a message that was said to it; it rests when its log does.
    let records: readonly LogRecord[] = []
    for (let left = 60, before = -1; records.length !== before && left > 0; left -= 1) {
      before = records.length
      await clock.advance(2_000)
      records = await this.#world.log(agentId)
    }
    // One that has just come back is still reading.
    const isBehind = ({ events }: Heard): boolean => (events.at(-1)?.seq ?? 0) < records.length
    for (let left = 60; (isBehind(this.#heard) || isBehind(this.#calm)) && left > 0; left -= 1)
      await clock.advance(1_000)
    this.#client.close()
    this.#observer.close()
    await this.#world.end()
    return {
      plan: this.#plan,
      faults: [...this.#faults, ...this.#world.faults, ...this.#check(records)],
      turns: records.filter(({ type }) => type === 'turn.start').length,
      records: records.length,
      connections: this.#line.connections,
      ...this.#counts,
      commands: this.#given.length,
      refused: this.#given.filter(({ outcome }) => outcome === 'refused').length,
    }
  }

  #check(records: readonly LogRecord[]): string[] {
    return [
      ...checkHeard(this.#heard.events, records, agentId),
      ...checkHeard(this.#calm.events, records, agentId).map((fault) => `the observer ${fault}`),
      ...checkTexts(this.#heard.events),
      ...checkOnce(this.#given, records),
      ...this.#runs.flatMap(({ run, events, result }) => [
        ...(result === undefined ? [] : checkResult(run.requestId, result, records)),
        ...checkRunEvents(run.requestId, events),
      ]),
    ]
  }

  #hear(event: AgentEvent): void {
    this.#heard.listen(event)
    if (event.type === 'turn.start') this.#turns += 1
    if ('nodeId' in event) this.#nodes = Math.max(this.#nodes, event.nodeId)
  }

  async #disturb(): Promise<void> {
    const { cuts, kills, holds } = this.#plan
    const now = this.#world.clock.now()
    if (!this.#world.isUp) {
      if (now >= this.#busyUntil) await this.#world.start()
    } else if (this.#dice.percent(kills)) {
      this.#counts.kills += 1
      this.#busyUntil = now + this.#dice.int(0, 60)
      await this.#world.kill()
    }
    if (this.#dice.percent(cuts)) this.#line.cut()
    if (this.#line.isHeld) this.#line.hold(this.#dice.percent(70))
    else if (this.#dice.percent(holds)) {
      this.#counts.holds += 1
      this.#line.hold(true)
    }
  }

  #command(): void {
    const what = this.#dice.weighted({ prompt: 3, steer: 5, followUp: 4, revert: 4, prune: 2, abort: 1, interrupt: 1 })
    if (what === 'prompt' || what === 'interrupt') return this.#prompt(what, this.#dice.int(1, 30))
    if (what === 'abort') return this.#keep(this.#agent.abort())
    const text = `${what} ${this.#given.length}`
    // What a person said is not hidden: it is only asked for.
    if (what === 'prune') return this.#give(what, text, this.#agent.prune({ steps: ['n1'], memo: text }))
    if (what !== 'revert') return this.#give(what, text, this.#agent[what](text))
    const step = `n${this.#dice.int(1, Math.max(1, this.#nodes))}`
    this.#give(what, text, this.#agent.revert(step, { category: 'failure', summary: text }))
  }

  #give(kind: Given['kind'], text: string, answer: Promise<unknown>): void {
    const given: Given = { kind, text, outcome: undefined }
    this.#given.push(given)
    this.#keep(
      answer.then(
        () => (given.outcome = 'done'),
        () => (given.outcome = 'refused'),
      ),
    )
  }

  #prompt(kind: 'prompt' | 'interrupt', turns: number): void {
    const text = `${kind} ${this.#given.length}, ${turns} turns`
    const run = this.#agent[kind](text)
    const started: StartedRun = { run, events: [] }
    this.#runs.push(started)
    const listening = (async () => {
      for await (const event of run) started.events.push(event)
    })()
    this.#keep(listening)
    const answer = run.result.then((result) => {
      started.result = result
      if (result.stopReason === 'error') throw new Error(result.error?.message)
    })
    this.#give(kind, text, answer)
  }

  #keep(work: Promise<unknown>): void {
    const kept = work.catch(() => {}).finally(() => this.#pending.delete(kept))
    this.#pending.add(kept)
  }
}
