import { randomNumbers } from '../../../packages/evaluation/src/statistics/randomNumbers.ts'
import type { Costs, Load, Topology } from './costs.ts'
import { ConnectionPool, Database } from './database.ts'
import { Gate, Station } from './station.ts'
import { type Process, Timeline, type Wait } from './timeline.ts'
import { WarmAgents } from './warmAgents.ts'

interface Worker {
  readonly core: Station
  /** One for each database. */
  readonly pools: readonly ConnectionPool[]
  readonly warm: WarmAgents
  isAway: boolean
  /** Grows when it is killed: what was being answered there is answered elsewhere. */
  life: number
}

/** An answered prompt. */
interface Answer {
  readonly at: number
  /** Milliseconds that the platform added to the time of model and tools. */
  readonly addedMs: number
}

/** Workers, engine, database and gateways under a load. Deterministic for a seed. */
export class System {
  readonly timeline = new Timeline()
  readonly databases: readonly Database[]
  readonly gate: Gate
  readonly workers: readonly Worker[]
  readonly partitions: readonly Station[]
  readonly engineCores: Station
  readonly gateways: Station
  readonly answers: Answer[] = []
  /** Prompts that were asked. */
  prompts = 0
  /** Openings of agents, and prompts for agents that were in memory. */
  opened = 0
  hits = 0
  /** Turns that were begun anew after a kill. */
  repeated = 0
  readonly #load: Load
  readonly #costs: Costs
  readonly #random: () => number
  readonly #workerOf = new Map<number, Worker>()

  constructor(topology: Topology, load: Load, costs: Costs, seed: number) {
    this.#load = load
    this.#costs = costs
    this.#random = randomNumbers(seed)
    const { timeline } = this
    this.databases = Array.from(
      { length: topology.databases },
      () => new Database(timeline, topology.databaseCores, costs.database),
    )
    this.gate = new Gate(topology.invocations)
    this.partitions = Array.from({ length: topology.partitions }, () => new Station(timeline, 1))
    this.engineCores = new Station(timeline, topology.engineCores)
    this.gateways = new Station(timeline, topology.gateways)
    const warm = Math.floor((topology.warmMb * 1_000) / costs.worker.warmKb)
    this.workers = Array.from({ length: topology.workers }, () => ({
      core: new Station(timeline, 1),
      pools: this.databases.map((each) => new ConnectionPool(timeline, each, topology.connectionsPerWorker)),
      warm: new WarmAgents(warm),
      isAway: false,
      life: 0,
    }))
  }

  /** Lets people come until `end`, in milliseconds. */
  run(end: number): void {
    const meanGap = (1_000 * this.#load.promptsPerSitting) / this.#load.promptsPerSecond
    const come = (): void => {
      this.timeline.start(this.#sitting(this.#anyone(), this.#load.promptsPerSitting))
      this.timeline.at(this.timeline.now + this.#exponential(meanGap), come)
    }
    this.timeline.at(this.#exponential(meanGap), come)
    // Those who are in the middle of a sitting at the beginning, with their agents in memory.
    const { promptsPerSecond, promptsPerSitting, thinkMs, turns, modelMs, toolMs } = this.#load
    const present = (promptsPerSecond * (thinkMs + turns * (modelMs * 1.2 + toolMs))) / 1_000
    for (let one = 0; one < present; one += 1) {
      const left = 1 + Math.floor(this.#random() * promptsPerSitting)
      const agent = this.#anyone()
      const worker = this.workers[Math.floor(this.#random() * this.workers.length)]!
      worker.warm.use(agent)
      this.#workerOf.set(agent, worker)
      this.timeline.at(this.#exponential(thinkMs), () => this.timeline.start(this.#sitting(agent, left)))
    }
    this.timeline.runUntil(end)
  }

  /** A worker dies with what it had in memory, and is there again after so long. */
  *kill(worker: Worker, ms: number): Process {
    worker.isAway = true
    worker.life += 1
    worker.warm.clear()
    yield this.timeline.pass(ms)
    worker.isAway = false
  }

  /** Nothing can be stored for so long. */
  *loseDatabases(ms: number): Process {
    for (const database of this.databases) database.isAway = true
    yield this.timeline.pass(ms)
    for (const database of this.databases) database.isAway = false
  }

  #anyone(): number {
    return Math.floor(this.#random() * this.#load.agents)
  }

  *#sitting(agent: number, prompts: number): Process {
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      yield* this.#prompt(agent)
      yield this.timeline.pass(this.#exponential(this.#load.thinkMs))
    }
  }

  *#prompt(agent: number): Process {
    const { timeline } = this
    const { turns, modelMs, toolMs, deltasPerTurn, watched } = this.#load
    const { engine, gatewayEventMs } = this.#costs
    const begun = timeline.now
    let outside = 0
    this.prompts += 1
    yield this.gate.enter
    const partition = this.partitions[agent % this.partitions.length]!
    yield partition.work(engine.partitionMs)
    yield this.engineCores.work(engine.otherMs)
    let worker = yield* this.#place(agent)
    let { life } = worker
    const isWatched = this.#random() < watched
    for (let turn = 0; turn < turns; turn += 1) {
      const before = outside
      const model = modelMs * Math.exp(0.6 * this.#normal())
      outside += model
      yield timeline.pass(model)
      if (isWatched) yield this.gateways.work(deltasPerTurn * gatewayEventMs)
      yield* this.#compute(worker, agent)
      if (turn < turns - 1) {
        outside += toolMs
        yield timeline.pass(toolMs)
      }
      if (worker.life !== life) {
        // The engine tries again elsewhere: what is in the log is not done again, the turn that was cut off is.
        this.repeated += 1
        outside = before
        worker = yield* this.#place(agent)
        ;({ life } = worker)
        turn -= 1
      }
    }
    this.gate.leave()
    this.answers.push({ at: timeline.now, addedMs: timeline.now - begun - outside })
  }

  /** The work of a turn in a worker, with the waits for the store. */
  *#compute({ core, pools }: Worker, agent: number): Process {
    const pool = pools[agent % pools.length]!
    const { appendsPerTurn, recordsPerTurn } = this.#load
    for (let append = 0; append < appendsPerTurn; append += 1) {
      yield core.work(this.#costs.worker.turnMs / appendsPerTurn)
      yield pool.append(recordsPerTurn / appendsPerTurn)
    }
  }

  /** Any worker takes the agent, as the engine knows no preference; it opens it unless it has it in memory still. */
  *#place(agent: number): Generator<Wait, Worker, void> {
    let worker: Worker | undefined
    while (worker === undefined) {
      const there = this.workers.filter(({ isAway }) => !isAway)
      worker = there[Math.floor(this.#random() * there.length)]
      if (worker === undefined) yield this.timeline.pass(250)
    }
    const isWarm = worker.warm.use(agent)
    const last = this.#workerOf.get(agent)
    if (last !== worker) last?.warm.drop(agent)
    this.#workerOf.set(agent, worker)
    if (isWarm) this.hits += 1
    else {
      this.opened += 1
      yield worker.core.work(this.#costs.worker.openMs)
    }
    return worker
  }

  #exponential(mean: number): number {
    return -mean * Math.log(1 - this.#random())
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random())
  }
}
